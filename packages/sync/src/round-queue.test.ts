import { expect, test } from 'vitest';
import { RoundQueue } from './round-queue.js';

/** A queue whose runs the test ends. */
function queue(): { queue: RoundQueue<number>; runs: { options: number; end: (error?: Error) => void }[] } {
  const runs: { options: number; end: (error?: Error) => void }[] = [];
  const made = new RoundQueue<number>(
    (options) =>
      new Promise((resolve, reject) => {
        runs.push({
          options,
          end: (error) => {
            if (error === undefined) resolve();
            else reject(error);
          },
        });
      }),
    (a, b) => Math.max(a, b),
  );
  return { queue: made, runs };
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('callers that come while a run goes on share the next one, which began after they asked', async () => {
  const { queue: rounds, runs } = queue();
  const ended: string[] = [];
  const note = (name: string) => (): void => void ended.push(name);
  void rounds.run(1).then(note('first'));
  void rounds.run(2).then(note('second'));
  void rounds.run(5).then(note('third'));
  void rounds.run(3).then(note('fourth'));
  expect(runs.map(({ options }) => options)).toEqual([1]);
  runs[0]?.end();
  await turn();
  expect([ended, runs.map(({ options }) => options)]).toEqual([['first'], [1, 5]]);
  runs[1]?.end();
  await turn();
  expect(ended.slice(1).sort()).toEqual(['fourth', 'second', 'third']);
  void rounds.run(7);
  expect(runs.map(({ options }) => options)).toEqual([1, 5, 7]);
});

test('a run that fails fails those who asked for it, and not the next', async () => {
  const { queue: rounds, runs } = queue();
  const first = rounds.run(1);
  const second = rounds.run(2);
  runs[0]?.end(new Error('no'));
  await expect(first).rejects.toThrow('no');
  await turn();
  runs[1]?.end();
  await expect(second).resolves.toBeUndefined();
});

test('idle waits for what runs and for what is queued, however it ends', async () => {
  const { queue: rounds, runs } = queue();
  await rounds.idle();
  const first = rounds.run(1).catch(() => undefined);
  const second = rounds.run(2);
  let idle = false;
  void rounds.idle().then(() => (idle = true));
  runs[0]?.end(new Error('no'));
  await first;
  await turn();
  expect(idle).toBe(false);
  runs[1]?.end();
  await second;
  await turn();
  expect(idle).toBe(true);
});
