import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fsck, git } from '../testing/git.js';
import { startWorker } from '../testing/run-worker.js';
import { storeDeps } from '../testing/store-fixture.js';
import { storeForEach } from '../testing/store-for-each.js';
import { commitOnBranch } from './commit.js';
import { Store } from './store.js';

const hasStrace = ((): boolean => {
  try {
    execFileSync('strace', ['-V'], { stdio: 'ignore' });
    return process.platform === 'linux';
  } catch {
    return false;
  }
})();

const { folder, store } = storeForEach();

const files = async (): Promise<string[]> =>
  (await git(store.dir, 'ls-tree', '-r', '--name-only', store.branch))
    .split('\n')
    .map((path) => path.split('/').pop() ?? '');

const counters = async (): Promise<number[]> =>
  (await git(store.dir, 'log', '--reverse', '--format=%(trailers:key=Mesh-Seq,valueonly,separator=%x2C)', store.branch))
    .split('\n')
    .map(Number);

const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n + 1);

describe('processes that commit to one store at once', () => {
  it('lose nothing: four of 50 commits each are all there, once, in one line', async () => {
    const names = ['a', 'b', 'c', 'd'];
    const workers = names.map((name) => startWorker('commits', { dir: store.dir, times: 50, name }));
    for (const worker of workers) expect(await worker.ended).toEqual({ code: 0, signal: null, stderr: '' });
    const expected = names.flatMap((name) => upTo(50).map((n) => `${name}-${n - 1}.yaml`));
    expect((await files()).sort()).toEqual(expected.sort());
    expect(await counters()).toEqual(upTo(200));
    expect(await git(store.dir, 'rev-list', '--min-parents=2', store.branch)).toBe('');
    expect(await fsck(store.dir)).toBe('');
  });
});

describe('a process that is killed during a commit', () => {
  /** What an accepted commit looks like to whoever made it; the next one takes over a dead one's lock. */
  const acceptNext = async (name: string): Promise<string> => {
    const next = await Store.open(store.dir, storeDeps());
    const { commit } = await next.withLock(() =>
      commitOnBranch(next, {
        edits: new Map([[`messages/_all/2026-12-02/0500/${name}.yaml`, Buffer.from(name)]]),
        event: { event: 'send', agent: null, messages: [], read: [], summary: name },
        at: Date.now(),
      }),
    );
    expect(commit).not.toBeNull();
    return `${name}.yaml`;
  };

  const expectWhole = async (accepted: readonly string[]): Promise<void> => {
    const there = await files();
    for (const name of accepted) expect(there).toContain(name);
    expect(await counters()).toEqual(upTo(there.length));
    expect(await fsck(store.dir)).toBe('');
  };

  // Right after one step is right before the next.
  it.each([
    { where: 'before each step', fault: { when: 'before' }, least: 14 },
    { where: 'in the middle of each write', fault: { when: 'half', steps: ['write'] }, least: 5 },
  ])(
    'leaves a store that works without repair, $where',
    async ({ fault, least }) => {
      const accepted: string[] = [];
      let kills = 0;
      for (let at = 1; ; at++) {
        const name = `step-${at}`;
        const worker = startWorker('crash', { dir: store.dir, name, fault: { ...fault, at, what: 'exit' } });
        const answer = await worker.line();
        const end = await worker.ended;
        if (answer !== null) accepted.push(`${name}.yaml`);
        expect(end).toEqual({ code: end.signal === null ? 0 : null, signal: end.signal, stderr: '' });
        if (end.signal === null) break;
        kills += 1;
        expect(await fsck(store.dir)).toBe('');
        accepted.push(await acceptNext(`next-${at}`));
      }
      expect(kills).toBeGreaterThanOrEqual(least);
      await expectWhole(accepted);
    },
    180_000,
  );

  it.skipIf(!hasStrace)(
    'leaves such a store when a system call is where it ends',
    async () => {
      const accepted: string[] = [];
      const killed = new Set<string>();
      for (const call of ['fsync', 'rename', 'link', 'unlink']) {
        for (const nth of [1, 3]) {
          const log = join(folder.path, 'strace');
          const name = `${call}-${nth}`;
          const trace = ['strace', '-f', '-qq', '-o', log, '-e', `trace=${call}`];
          const worker = startWorker('crash', { dir: store.dir, name }, [
            ...trace,
            '-e',
            `inject=${call}:signal=KILL:when=${nth}`,
          ]);
          if ((await worker.line()) !== null) accepted.push(`${name}.yaml`);
          await worker.ended;
          // Each kind of call is counted for itself, and not every one comes three times.
          if ((await readFile(log, 'utf8')).includes('killed by SIGKILL')) killed.add(call);
          expect(await fsck(store.dir)).toBe('');
          accepted.push(await acceptNext(`after-${name}`));
        }
      }
      expect([...killed].sort()).toEqual(['fsync', 'link', 'rename', 'unlink']);
      await expectWhole(accepted);
    },
    180_000,
  );
});
