import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { silentLogger } from '@git-mesh/core';
import { joinMesh } from '@git-mesh/sync';
import { stockGit } from '../stock-git.js';
import type { BulkHistory } from './bulk-history.js';
import { bytesIn } from './maintain.js';
import { median, timed } from './measure.js';

/** What getting a mesh costs: medians of the runs. */
export interface Joining {
  history: number;
  live: number;
  what: string;
  ms: number;
  /** What the remote's git wrote. */
  fetched: number;
  /** Of the objects. */
  disk: number;
}

/** A mesh of up to so many commits is joined with all of its history. */
const wholeUpTo = 2_000;
/** Of histories that are longer, the longest may take so many times what the shortest takes. */
const growthAim = 1.3;
const joinName = 'git mesh join';

/** A new machine that joins, beside `git clone --bare` with one commit of each branch, and of everything, in turns. */
export async function measureJoin(
  { remote, env }: BulkHistory,
  { root, history, live, runs }: { root: string; history: number; live: number; runs: number },
): Promise<Joining[]> {
  const counting = new CountingGit(join(root, 'counting'));
  const clone = (...depth: string[]) => {
    return (dir: string): void => {
      const through = ['--upload-pack', `'${counting.program}' upload-pack`];
      stockGit(['clone', '-q', '--bare', '--no-local', ...depth, ...through, `file://${remote}`, dir]);
    };
  };
  const path = `${counting.folder}${delimiter}${env['PATH'] ?? ''}`;
  const ours = (dir: string, run: number): Promise<unknown> => {
    const machine = `new-${run}`;
    const setup = { dir, env: { ...env, PATH: path }, logger: silentLogger, hostname: machine, machine };
    return joinMesh({ ...setup, url: remote });
  };
  const all: { what: string; run: (dir: string, run: number) => unknown }[] = [
    { what: joinName, run: ours },
    { what: 'git clone --bare --depth 1', run: clone('--depth', '1', '--no-single-branch') },
    { what: 'git clone --bare', run: clone() },
  ];
  const measured = all.map((one) => ({ ...one, ms: [] as number[], fetched: [] as number[], disk: [] as number[] }));
  for (let n = 0; n < runs; n++) {
    for (const { run, ms, fetched, disk } of measured) {
      const dir = join(root, 'new');
      counting.reset();
      ms.push(await timed(() => run(dir, n)));
      fetched.push(counting.bytes());
      disk.push(bytesIn(join(dir, 'objects')));
      rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
    }
  }
  return measured.map(({ what, ms, fetched, disk }) => ({
    history,
    live: Math.min(live, history),
    what,
    ms: median(ms),
    fetched: median(fetched),
    disk: median(disk),
  }));
}

/** A git that notes how many bytes each run of it wrote. */
class CountingGit {
  readonly folder: string;
  readonly program: string;
  readonly #bytes: string;

  constructor(folder: string) {
    const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    this.folder = folder;
    this.program = join(folder, 'git');
    this.#bytes = join(folder, 'bytes');
    mkdirSync(folder);
    writeFileSync(this.program, `#!/bin/sh\n'${real}' "$@" | tee -a '${this.#bytes}'\n`);
    chmodSync(this.program, 0o755);
    this.reset();
  }

  reset(): void {
    writeFileSync(this.#bytes, '');
  }

  bytes(): number {
    return statSync(this.#bytes).size;
  }
}

const kib = (bytes: number): string => `${Math.round(bytes / 1024)} KiB`;

/** The costs as a Markdown table, and how ours grew. */
export function joinTable(joinings: readonly Joining[]): string {
  const head = ['history', 'live', 'what', 'time', 'fetched', 'objects on disk'];
  const rows = joinings.map(({ history, live, what, ms, fetched, disk }) => [
    String(history),
    String(live),
    what,
    `${(ms / 1000).toFixed(2)} s`,
    kib(fetched),
    kib(disk),
  ]);
  const table = [head, ['---:', '---:', '---', '---:', '---:', '---:'], ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
  const ours = joinings
    .filter(({ what, history }) => what === joinName && history > wholeUpTo)
    .sort((one, other) => one.history - other.history);
  const [first, last] = [ours[0], ours.at(-1)];
  if (first === undefined || last === undefined || first === last) return table;
  const figures = (
    [
      ['time', last.ms / first.ms],
      ['bytes fetched', last.fetched / first.fetched],
    ] as const
  )
    .map(
      ([name, ratio]) =>
        `- ${name} of a join at ${last.history} against ${first.history}: ${ratio.toFixed(2)}, aim ≤ ${growthAim}: ${ratio <= growthAim ? 'met' : 'missed'}`,
    )
    .join('\n');
  return `${table}\n\n${figures}`;
}
