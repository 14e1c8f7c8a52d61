import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { silentLogger } from '@git-mesh/core';
import { initMesh, joinMesh, openMesh } from '@git-mesh/sync';
import { cleanEnvironment } from '../environment.js';
import { bareRemote, stockGit } from '../stock-git.js';
import type { StepResult } from './backlog-step.js';
import { inThePast } from './history.js';
import { timed } from './measure.js';

const usage = `node test/dist/bench/backlog.js [--messages 1000,10000] [--dir FOLDER] [--keep FOLDER]

A machine that was offline for so many messages (a commit each) pushes them, another that was offline as long fetches
them, a new one joins. Each step is a process of its own; stock git does the same beside it. --keep holds on to the
history that was made, and takes it from there the next time.
`;

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '1000,10000' },
    dir: { type: 'string', default: tmpdir() },
    keep: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

const secondsBetweenMessages = 45;
const stepProgram = fileURLToPath(new URL('./backlog-step.js', import.meta.url));
const branch = 'refs/heads/mesh/studio';

/** A folder with `hub.git`, `laptop`, which knows only its own beginnings, and `studio`, which sent without a remote. */
async function makeBacklog(root: string, messages: number): Promise<void> {
  const remote = bareRemote(root);
  const env = cleanEnvironment(root);
  const setup = (handle: string) => ({
    dir: join(root, handle),
    env,
    logger: silentLogger,
    hostname: handle,
    machine: handle,
  });
  await inThePast(messages + 1, messages * secondsBetweenMessages * 1000, async (next) => {
    await initMesh({ ...setup('studio'), remote });
    await joinMesh({ ...setup('laptop'), url: remote });
    const mesh = await openMesh({ dir: join(root, 'studio'), env, logger: silentLogger });
    const connection = mesh.newConnection({ resident: true });
    await mesh.syncNow();
    for (let n = 0; n < messages; n++) {
      next();
      const payload = { reason: 'release 2.1', repo: 'shop', branch: `feature/${n}`, n };
      await mesh.api.send({ to: 'laptop', msg_type: 'note', payload }, { connection });
    }
    await mesh.close();
  });
}

function step(args: readonly string[]): StepResult {
  const printed = execFileSync(process.execPath, [stepProgram, ...args], { encoding: 'utf8' });
  // Our own program's, which prints nothing else.
  return JSON.parse(printed) as StepResult;
}

interface Row {
  step: string;
  messages: number;
  ours: StepResult;
  git_ms: number;
}

async function measure(root: string, messages: number): Promise<Row[]> {
  const hub = join(root, 'hub.git');
  const git = join(root, 'git');
  mkdirSync(git);
  const [gitHub, gitLaptop] = [join(git, 'hub.git'), join(git, 'laptop.git')];
  cpSync(hub, gitHub, { recursive: true });
  stockGit(['clone', '-q', '--mirror', '--no-local', gitHub, gitLaptop]);
  const pushed = await timed(() => {
    stockGit(['push', '-q', gitHub, branch], { cwd: join(root, 'studio') });
  });
  const fetched = await timed(() => {
    stockGit(['fetch', '-q', gitHub, `${branch}:${branch}`], { cwd: gitLaptop });
  });
  const cloned = await timed(() => {
    stockGit(['clone', '-q', '--mirror', '--no-local', gitHub, join(git, 'late.git')]);
  });
  return [
    { step: 'push', messages, ours: step(['push', join(root, 'studio'), root]), git_ms: pushed },
    { step: 'fetch', messages, ours: step(['fetch', join(root, 'laptop'), root]), git_ms: fetched },
    { step: 'join', messages, ours: step(['join', join(root, 'late'), root, hub]), git_ms: cloned },
  ];
}

function line({ step: name, messages, ours, git_ms: git }: Row): string {
  const ratio = (ours.ms / git).toFixed(2);
  const [own, theirs] = [ours.ms, git].map((ms) => `${(ms / 1000).toFixed(2)} s`);
  return `${name} of ${messages} messages: ${own} in ${ours.rounds} rounds, ${ours.rss_mib} MiB; git ${theirs}; ratio ${ratio}\n`;
}

/** A copied store still names the remote by the path it had. */
function moveRemote(store: string, from: string, to: string): void {
  const config = join(store, 'mesh', 'config.json');
  writeFileSync(config, readFileSync(config, 'utf8').replaceAll(from, to));
}

async function run(): Promise<void> {
  for (const messages of values.messages.split(',').map(Number)) {
    const root = mkdtempSync(join(values.dir, 'mesh-backlog-'));
    try {
      const kept = values.keep === undefined ? null : join(values.keep, String(messages));
      if (kept === null || !existsSync(kept)) {
        process.stderr.write(`making a backlog of ${messages} messages\n`);
        await makeBacklog(root, messages);
        if (kept !== null) {
          cpSync(root, kept, { recursive: true });
          for (const handle of ['studio', 'laptop']) moveRemote(join(kept, handle), root, kept);
        }
      } else {
        cpSync(kept, root, { recursive: true });
        for (const handle of ['studio', 'laptop']) moveRemote(join(root, handle), kept, root);
      }
      for (const row of await measure(root, messages)) process.stdout.write(line(row));
    } finally {
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    }
  }
}

if (values.help) process.stdout.write(usage);
else await run();
