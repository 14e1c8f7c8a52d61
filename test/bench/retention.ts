import { cpSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Store, silentLogger } from '@git-mesh/core';
import { joinMesh, openMesh } from '@git-mesh/sync';
import { cleanEnvironment } from '../environment.js';
import { stockGit } from '../stock-git.js';
import { longMeshHandles, makeLongMesh } from './long-mesh.js';
import { timed } from './measure.js';

const usage = `npm run retention -- [--messages 50000] [--dir FOLDER] [--keep] [--from FOLDER]

Sends so many messages through a mesh of three machines, then prints what its branches' tips hold, what a new machine
fetches to join it, shallow and whole, beside git clone, and what getting all of the history afterwards takes; each store
is checked with git fsck --strict. --dir is where the repositories are made (default: the folder for temporary files); in
/dev/shm the history is made quickest. --keep leaves them there, and --from measures such a folder once more.
`;

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '50000' },
    dir: { type: 'string', default: tmpdir() },
    keep: { type: 'boolean', default: false },
    from: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;
const kib = (bytes: number): string => `${Math.round(bytes / 1024)} KiB`;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function sizeOf(path: string): number {
  if (!statSync(path).isDirectory()) return statSync(path).size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}

/** Objects and their bytes on the disk. */
function objectsIn(repository: string): string {
  const lines = stockGit(['count-objects', '-v'], { cwd: repository }).split('\n');
  const count = (key: string): number => Number(lines.find((line) => line.startsWith(`${key}:`))?.split(' ')[1]);
  return `${count('count') + count('in-pack')} objects, ${kib(sizeOf(join(repository, 'objects')))}`;
}

function branches(repository: string): string[] {
  return stockGit(['for-each-ref', '--format=%(refname)', 'refs/heads/mesh/'], { cwd: repository }).split('\n');
}

function describeTips(remote: string): void {
  for (const ref of branches(remote)) {
    const entries = stockGit(['ls-tree', '-r', '-t', '-l', ref], { cwd: remote }).split('\n');
    const files = entries.filter((line) => line.includes(' blob '));
    const bytes = files.reduce((sum, line) => sum + Number(/ (\d+)\t/.exec(line)?.[1] ?? 0), 0);
    const below = (folder: string): number => files.filter((line) => line.includes(`\t${folder}/`)).length;
    const commits = stockGit(['rev-list', '--count', ref], { cwd: remote });
    const kinds = ['messages', 'acks', 'presence', 'receipts'].map((folder) => `${below(folder)} ${folder}`).join(', ');
    say(
      `  ${ref.slice(16)}: ${commits} commits; tip of ${files.length} files (${kib(bytes)}), ${entries.length - files.length} folders: ${kinds}`,
    );
  }
}

function check(repository: string): void {
  const said = stockGit(['fsck', '--strict', '--no-dangling', '--no-progress'], { cwd: repository });
  if (said !== '') throw new Error(`git fsck --strict in ${repository}: ${said}`);
}

async function joined(root: string, remote: string, name: string, options: { historyUpTo?: number }): Promise<string> {
  const dir = join(root, name);
  const setup = { dir, env: cleanEnvironment(root), logger: silentLogger, hostname: name, machine: name };
  const ms = await timed(() => joinMesh({ ...setup, url: remote, ...options }));
  say(`  joined as ${name} in ${seconds(ms)}: ${objectsIn(dir)}`);
  check(dir);
  return dir;
}

async function audit(root: string, dir: string): Promise<number> {
  const mesh = await openMesh({ dir, env: cleanEnvironment(root), logger: silentLogger });
  try {
    const result = await mesh.fetchHistory();
    if (!result.complete) throw new Error(`the history is not complete: ${JSON.stringify(result)}`);
    return result.fetched;
  } finally {
    await mesh.close();
  }
}

async function describeStart(root: string, name: string, dir: string): Promise<void> {
  const journal = sizeOf(join(dir, 'mesh', 'journal'));
  const started = performance.now();
  const mesh = await openMesh({ dir, env: cleanEnvironment(root), logger: silentLogger });
  const { journal: view } = await mesh.api.status();
  const ms = performance.now() - started;
  await mesh.close();
  const store = await Store.open(dir, {
    clock: { now: Date.now },
    random: () => new Uint8Array(8),
    logger: silentLogger,
  });
  const reading = await timed(() => store.journal.view());
  say(
    `  ${name}: journal of ${view.entries} messages, ${kib(journal)}, read in ${seconds(reading)}; opened with its status in ${seconds(ms)}`,
  );
}

async function make(root: string): Promise<void> {
  const messages = Number(values.messages);
  const ms = await timed(() =>
    makeLongMesh(root, messages, (done) => void process.stderr.write(`  ${done} of ${messages}\n`)),
  );
  say(`${messages} messages went through in ${seconds(ms)}`);
}

async function run(): Promise<void> {
  const root = values.from ?? mkdtempSync(join(values.dir, 'mesh-retention-'));
  const measured = mkdtempSync(join(values.dir, 'mesh-retention-new-'));
  try {
    if (values.from === undefined) await make(root);
    const remote = join(measured, 'hub.git');
    cpSync(join(root, 'hub.git'), remote, { recursive: true });
    describeTips(remote);
    check(remote);
    say(`the shared repository: ${objectsIn(remote)}`);
    stockGit(['gc', '-q'], { cwd: remote });
    say(`after git gc there: ${objectsIn(remote)}`);
    for (const name of longMeshHandles) await describeStart(measured, name, join(root, name));
    say('a new machine:');
    const late = await joined(measured, remote, 'late', {});
    await joined(measured, remote, 'whole', { historyUpTo: Infinity });
    for (const [name, depth] of [
      ['shallow', ['--depth', '1', '--no-single-branch']],
      ['all', []],
    ] as const) {
      const clone = join(measured, `clone-${name}.git`);
      const cloned = await timed(() =>
        stockGit(['clone', '-q', '--mirror', '--no-local', ...depth, `file://${remote}`, clone]),
      );
      say(`  git clone --mirror ${depth.join(' ')} in ${seconds(cloned)}: ${objectsIn(clone)}`);
    }
    await describeStart(measured, 'late', late);
    say(`  late: git log shows ${stockGit(['rev-list', '--count', '--all'], { cwd: late })} commits`);
    let fetched = 0;
    const audited = await timed(async () => (fetched = await audit(measured, late)));
    check(late);
    say(`  all of the history in ${seconds(audited)}: ${fetched} older commits, each checked; ${objectsIn(late)}`);
  } finally {
    rmSync(measured, { recursive: true, force: true, maxRetries: 5 });
    if (!values.keep && values.from === undefined) rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

if (values.help) process.stdout.write(usage);
else await run();
