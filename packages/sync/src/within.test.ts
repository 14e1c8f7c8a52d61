import { expect, test } from 'vitest';
import { deadlineSignal } from './deadline.js';
import { within } from './within.js';

const never = (): Promise<void> => new Promise(() => undefined);

test('work that ends in time is passed on, as is its failure', async () => {
  await expect(within(Promise.resolve(), 10_000)).resolves.toBeUndefined();
  await expect(within(Promise.reject(new Error('no')), 10_000)).rejects.toThrow('no');
});

test('work that takes longer is no more waited for, and its later failure is nobody’s', async () => {
  let fail: (error: Error) => void = () => undefined;
  const work = new Promise<void>((_resolve, reject) => (fail = reject));
  await within(work, 1);
  fail(new Error('late'));
  await new Promise((resolve) => setImmediate(resolve));
});

test('a signal ends the wait, at once where it has fired', async () => {
  const controller = new AbortController();
  const waiting = within(never(), 60_000, controller.signal);
  controller.abort();
  await waiting;
  await within(never(), 60_000, controller.signal);
});

test('a deadline fires with a reason that says how long, and with the outer signal', async () => {
  const short = deadlineSignal(1);
  await new Promise((resolve) => {
    short.signal.addEventListener('abort', resolve);
  });
  expect(short.signal.reason).toMatchObject({ errorName: 'deadline', message: 'no answer within 1 s' });
  const outer = new AbortController();
  const inner = deadlineSignal(60_000, outer.signal);
  expect(inner.signal.aborted).toBe(false);
  outer.abort();
  expect(inner.signal.aborted).toBe(true);
  inner.done();
  expect(deadlineSignal(60_000, outer.signal).signal.aborted).toBe(true);
});
