import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { copyBuild, mutate } from './mutant-build.js';
import { type Mutant, mutants } from './mutant-list.js';
import { soak, type SoakResult } from './run.js';
import { type FaultKind, faultKinds } from './schedule.js';

const usage = `npm run soak:mutants -- [--only NAME,NAME] [--seed N] [--list]

Puts one wrong thing at a time into a copy of the build and requires that a short soak finds it; and first that the
copy without any passes. Exits 1 where one is not found.
`;

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    seed: { type: 'string', default: '1' },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

/** What chance alone decides is given a few chances. */
const mostTries = 3;

function run(launcher: string, faults: readonly FaultKind[], seed: number): Promise<SoakResult> {
  return soak({
    launcher,
    seed,
    machines: 3,
    seconds: 15,
    faults,
    pace: { serverMs: 150, commandMs: 700, faultMs: 300 },
    onProgress: () => undefined,
  });
}

function forget({ kept }: SoakResult): void {
  if (kept !== null) rmSync(kept, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

const counted = ({ findings }: SoakResult): string => {
  const kinds = [...new Set(findings.map(({ kind }) => kind))];
  return kinds.map((kind) => `${kind} ${findings.filter((one) => one.kind === kind).length}`).join(', ') || 'nothing';
};

async function isFound(launcher: string, { name, does, faults, shows }: Mutant, seed: number): Promise<boolean> {
  for (let tries = 0; tries < mostTries; tries++) {
    const result = await run(launcher, faults, seed + tries);
    forget(result);
    const found = result.findings.find(({ kind }) => shows.includes(kind));
    process.stdout.write(
      `${found === undefined ? 'not found' : 'found'}  ${name} (${does}), seed ${seed + tries}: ${counted(result)}\n`,
    );
    if (found === undefined) continue;
    process.stdout.write(`       ${found.text}\n`);
    return true;
  }
  return false;
}

async function all(chosen: readonly Mutant[], seed: number): Promise<number> {
  const root = mkdtempSync(join(tmpdir(), 'mesh-mutants-'));
  try {
    const launcher = copyBuild(root);
    const sound = await run(launcher, faultKinds, seed);
    process.stdout.write(`unchanged, seed ${seed}: ${counted(sound)}\n`);
    if (sound.kept !== null) {
      process.stdout.write(`${sound.findings.map(({ text }) => text).join('\n')}\nkept in ${sound.kept}\n`);
      return 1;
    }
    const missed: string[] = [];
    for (const mutant of chosen) {
      const mend = mutate(root, mutant);
      if (!(await isFound(launcher, mutant, seed))) missed.push(mutant.name);
      mend();
    }
    process.stdout.write(`${chosen.length - missed.length} of ${chosen.length} found\n`);
    return missed.length === 0 ? 0 : 1;
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

const only = values.only?.split(',');
const unknown = only?.filter((name) => !mutants.some((mutant) => mutant.name === name)) ?? [];
if (unknown.length > 0)
  throw new Error(`--only takes ${mutants.map(({ name }) => name).join(', ')}, not ${unknown.join()}`);
const chosen = mutants.filter(({ name }) => only === undefined || only.includes(name));
if (values.help) process.stdout.write(usage);
else if (values.list) process.stdout.write(chosen.map(({ name, does }) => `${name}: ${does}\n`).join(''));
else process.exitCode = await all(chosen, Number(values.seed));
