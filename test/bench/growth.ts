import { cpSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Store, silentLogger } from '@git-mesh/core';
import { bareRemote, stockGit } from '../stock-git.js';
import { makeHistory } from './history.js';
import { bytesIn } from './maintain.js';

export interface Growth {
  what: string;
  /** Of the objects, a message. */
  before: number;
  after: number;
  /** What came between. */
  by: string;
}

/** Bytes on disk a message: here and on the remote, and of the same files committed by stock git. */
export async function measureGrowth(root: string, messages: number): Promise<Growth[]> {
  const machines = await makeHistory(root, messages, (done) => process.stderr.write(`  ${done} of ${messages}\n`));
  await machines.close();
  const each = (dir: string): number => Math.round(bytesIn(join(dir, 'objects')) / messages);
  const { store } = machines.studio;
  const repacked = join(root, 'repacked');
  const before = each(store);
  cpSync(store, repacked, { recursive: true });
  stockGit(['--git-dir', repacked, 'repack', '-adq']);
  const opened = await Store.open(store, {
    clock: { now: () => Date.now() },
    random: randomBytes,
    logger: silentLogger,
  });
  while (await opened.maintain({ whole: true }));
  const remoteBefore = each(machines.remote);
  stockGit(['--git-dir', machines.remote, 'repack', '-adq']);
  return [
    { what: 'the store here', before, after: each(store), by: 'git mesh maintain' },
    { what: 'a copy of it', before, after: each(repacked), by: 'git repack -ad' },
    { what: 'the remote', before: remoteBefore, after: each(machines.remote), by: 'git repack -ad' },
    stockFiles(root, store, each),
  ];
}

/** The same files, one commit a commit of ours, without signatures and trailers: loose as `git commit` leaves them. */
function stockFiles(root: string, store: string, each: (dir: string) => number): Growth {
  const branch = 'refs/heads/mesh/studio';
  const stream = execFileSync('git', ['--git-dir', store, 'fast-export', '--signed-tags=strip', branch], {
    maxBuffer: 1 << 30,
  });
  const [packed, loose] = [bareRemote(join(root), 'stock.git'), bareRemote(join(root), 'loose.git')];
  execFileSync('git', ['--git-dir', packed, 'fast-import', '--quiet'], { input: stream });
  stockGit(['--git-dir', packed, 'repack', '-adq']);
  const pack = execFileSync('git', ['--git-dir', packed, 'pack-objects', '--stdout', '--all', '-q'], {
    input: '',
    maxBuffer: 1 << 30,
  });
  execFileSync('git', ['--git-dir', loose, 'unpack-objects', '-q'], { input: pack });
  return { what: 'the same files by stock git', before: each(loose), after: each(packed), by: 'git repack -ad' };
}

export function growthTable(messages: number, rows: readonly Growth[]): string {
  const head = `bytes a message after ${messages} | before | after | by`;
  const lines = rows.map(({ what, before, after, by }) => `| ${what} | ${before} | ${after} | ${by} |`);
  return [`| ${head} |`, '|---|---:|---:|---|', ...lines, ''].join('\n');
}
