import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bytesIn } from '../bench/maintain.js';
import { timed } from '../bench/measure.js';
import { residentMib, ServerProcess } from '../bench/server-process.js';
import { cleanEnvironment, type Environment, launcher, workspaceRoot } from '../environment.js';
import { stockGit } from '../stock-git.js';
import type { Year } from './mesh-year.js';

/** What was measured at the end of a day: sizes in bytes, times in milliseconds. */
export type Figures = Record<string, number>;

/** Looks at the first machine's store, the shared repository, and what a newcomer gets. Leaves nothing changed but a machine more. */
export async function measureMesh(root: string, { remote, members, behindMs }: Year, day: number): Promise<Figures> {
  const [first, second] = members;
  if (first === undefined || second === undefined) throw new Error('a mesh has at least two machines here');
  const figures: Figures = { day };
  const env = { ...cleanEnvironment(root), GIT_MESH_DIR: first.store, MESH_CLOCK_SHIFT_MS: String(behindMs()) };
  sizes(figures, 'here', first.store);
  sizes(figures, 'remote', remote);
  figures['here: journal bytes'] = statSync(join(first.store, 'mesh', 'journal')).size;
  figures['here: local state bytes'] = bytesIn(join(first.store, 'mesh'));
  const tip = stockGit(['ls-tree', '-r', '--name-only', `refs/heads/mesh/${first.handle}`], { cwd: first.store });
  figures['here: tip files'] = tip.split('\n').length;
  figures['all commits'] = Number(stockGit(['rev-list', '--count', '--all'], { cwd: remote }));
  // Quiet first: what was due is done.
  await first.sync();
  figures['no-op round ms'] = await first.sync();
  figures['git fetch no-op ms'] = await gitFetch(root, remote);
  await second.send(first.handle);
  await second.sync();
  await first.send(second.handle);
  figures['round with a message each way ms'] = await first.sync();
  for (const [name, args] of commands) figures[`${name} ms`] = run(env, args);
  figures['join ms'] = run({ ...env, GIT_MESH_DIR: join(root, `new-${day}`) }, [
    'join',
    remote,
    '--machine',
    `new-${day}`,
  ]);
  sizes(figures, 'newcomer', join(root, `new-${day}`));
  figures['server MiB'] = await serverMemory(env, root);
  const scratch = mkdtempSync(join(root, 'measured-'));
  figures['git clone ms'] = await timed(() =>
    stockGit(['clone', '-q', '--mirror', '--no-local', `file://${remote}`, join(scratch, 'clone.git')]),
  );
  sizes(figures, 'clone', join(scratch, 'clone.git'));
  const packed = join(scratch, 'packed.git');
  cpSync(remote, packed, { recursive: true });
  figures['git gc of the remote ms'] = await timed(() => stockGit(['gc', '-q'], { cwd: packed }));
  sizes(figures, 'remote after git gc', packed);
  const store = join(scratch, 'store');
  cpSync(first.store, store, { recursive: true });
  figures['maintain ms'] = run({ ...env, GIT_MESH_DIR: store }, ['maintain']);
  sizes(figures, 'here after maintain', store);
  figures['log, whole, after maintain ms'] = run({ ...env, GIT_MESH_DIR: store }, ['log', '--json']);
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  return figures;
}

const commands: [string, string[]][] = [
  ['status', ['status']],
  ['checkin', ['checkin', 'looker', '--ttl', '3600']],
  ['inbox', ['inbox', 'looker']],
  ['agents', ['agents']],
  ['sent', ['sent']],
  ['log --limit 20', ['log', '--limit', '20']],
  ['log, whole', ['log', '--json']],
  ['hook', ['hook', 'claude-code', 'Stop']],
];

function run(env: Environment, args: string[]): number {
  const clock = pathToFileURL(join(workspaceRoot, 'test/year/shifted-clock.mjs')).href;
  const started = performance.now();
  const ran = spawnSync(process.execPath, ['--import', clock, launcher, ...args], {
    env,
    encoding: 'utf8',
    maxBuffer: 1 << 30,
    input: '{}',
  });
  const ms = performance.now() - started;
  if (ran.status !== 0)
    throw new Error(`git-mesh ${args.join(' ')}: exit ${ran.status}\n${ran.stdout.slice(0, 500)}\n${ran.stderr}`);
  return ms;
}

async function serverMemory(env: Environment, root: string): Promise<number> {
  const server = new ServerProcess({ cwd: root, env });
  await server.listTools();
  await server.call('agents_list', {});
  await server.call('agent_sent', { limit: 100 });
  const mib = residentMib(server.pid);
  await server.end();
  return mib;
}

async function gitFetch(root: string, remote: string): Promise<number> {
  const clone = join(root, 'rival.git');
  if (!existsSync(clone)) stockGit(['clone', '-q', '--mirror', '--no-local', `file://${remote}`, clone]);
  stockGit(['fetch', '-q'], { cwd: clone });
  return timed(() => stockGit(['fetch', '-q'], { cwd: clone }));
}

function sizes(figures: Figures, name: string, repository: string): void {
  const lines = stockGit(['count-objects', '-v'], { cwd: repository }).split('\n');
  const count = (key: string): number => Number(lines.find((line) => line.startsWith(`${key}:`))?.split(' ')[1]);
  figures[`${name}: objects`] = count('count') + count('in-pack');
  figures[`${name}: packs`] = count('packs');
  figures[`${name}: bytes`] = bytesIn(join(repository, 'objects'));
}
