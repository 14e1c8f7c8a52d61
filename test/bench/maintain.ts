import { cpSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Store, silentLogger } from '@git-mesh/core';
import { cleanEnvironment } from '../environment.js';
import { stockGit } from '../stock-git.js';
import { makeHistory } from './history.js';
import { median, timed } from './measure.js';

const program = fileURLToPath(new URL('../../../packages/cli/bin/git-mesh.cjs', import.meta.url));
const reads: Record<'agents' | 'inbox' | 'log', readonly string[]> = {
  agents: ['agents'],
  inbox: ['inbox', 'bench'],
  log: ['log', '--limit', '1000000'],
};

export interface Latency {
  state: string;
  packs: number;
  bytes: number;
  /** Medians in milliseconds of a new process each. */
  ms: Record<keyof typeof reads, number>;
}

/** What a cold read takes where each fetch left a pack, and after each way of joining them; the time of maintenance. */
export async function measureMaintain(
  root: string,
  { fetches, runs }: { fetches: number; runs: number },
): Promise<{ latencies: Latency[]; maintainMs: number }> {
  const machines = await makeHistory(root, fetches, () => undefined);
  await machines.close();
  const { store } = machines.laptop;
  const env = cleanEnvironment(root);
  const scattered = join(root, 'scattered');
  await scatter(store, scattered, fetches);
  const copies = { scattered, maintained: join(root, 'maintained'), repacked: join(root, 'repacked') };
  for (const copy of [copies.maintained, copies.repacked]) cpSync(scattered, copy, { recursive: true });
  const mesh = (dir: string, ...args: string[]): void => {
    execFileSync(process.execPath, [program, '--dir', dir, '--json', ...args], {
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
      maxBuffer: 1 << 28,
    });
  };
  const maintainMs = await timed(() => {
    mesh(copies.maintained, 'maintain');
  });
  stockGit(['--git-dir', copies.repacked, 'repack', '-adq']);
  // Else the first command that is measured would join them.
  for (const name of packNames(scattered)) {
    writeFileSync(join(scattered, 'objects', 'pack', name.replace(/pack$/, 'keep')), '');
  }
  const states = [
    ['each fetch its pack', copies.scattered],
    ['as commands leave it', store],
    ['after git mesh maintain', copies.maintained],
    ['after git repack -ad', copies.repacked],
  ] as const;
  const times = new Map<string, number[]>();
  for (let run = 0; run < runs; run++) {
    // In turns, so that what else the machine does falls on all of them.
    for (const [state, dir] of states) {
      for (const [name, args] of Object.entries(reads)) {
        const key = `${state} ${name}`;
        times.set(key, [
          ...(times.get(key) ?? []),
          await timed(() => {
            mesh(dir, ...args);
          }),
        ]);
      }
    }
  }
  const of = (state: string, name: string): number => Math.round(median(times.get(`${state} ${name}`) ?? []));
  const latencies = states.map(([state, dir]) => ({
    state,
    packs: packNames(dir).length,
    bytes: bytesIn(join(dir, 'objects')),
    ms: { agents: of(state, 'agents'), inbox: of(state, 'inbox'), log: of(state, 'log') },
  }));
  return { latencies, maintainMs: Math.round(maintainMs) };
}

const packNames = (dir: string): string[] =>
  readdirSync(join(dir, 'objects', 'pack')).filter((name) => name.endsWith('.pack'));

export function bytesIn(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    bytes += entry.isDirectory() ? bytesIn(path) : statSync(path).size;
  }
  return bytes;
}

/** A copy of a store with its objects in so many packs, by the way a fetch installs a small one. Without a remote. */
async function scatter(from: string, to: string, packs: number): Promise<void> {
  cpSync(from, to, { recursive: true });
  const deps = { clock: { now: () => Date.now() }, random: randomBytes, logger: silentLogger };
  const whole = await Store.open(from, deps);
  const scattered = await Store.open(to, deps);
  const ids = [];
  for await (const oid of whole.objects.ids()) ids.push(oid);
  const folder = join(to, 'objects', 'pack');
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  const each = Math.max(1, Math.floor(ids.length / packs));
  for (let n = 0; n < ids.length; n += each) {
    const objects = [];
    for (const oid of ids.slice(n, n + each)) objects.push(await whole.objects.read(oid));
    await scattered.objects.write(objects);
  }
}

/** The table of it for a page. */
export function maintainTable({ latencies, maintainMs }: Awaited<ReturnType<typeof measureMaintain>>): string {
  const rows = latencies.map(({ state, packs, bytes, ms }) =>
    [state, packs, `${Math.round(bytes / 1024)} KiB`, `${ms.agents} ms`, `${ms.inbox} ms`, `${ms.log} ms`].join(' | '),
  );
  const head = ['the store', 'packs', 'objects on disk', 'agents', 'inbox', 'log, whole'].join(' | ');
  const lines = [head, '---|---:|---:|---:|---:|---:', ...rows].map((row) => `| ${row} |`);
  return `${lines.join('\n')}\n\ngit mesh maintain took ${maintainMs} ms.\n`;
}
