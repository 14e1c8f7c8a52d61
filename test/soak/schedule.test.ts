import { expect, test } from 'vitest';
import { type FaultKind, faultKinds, makeSchedule, type ScheduleOptions } from './schedule.js';

const options = (seed: number, faults: readonly FaultKind[] = faultKinds): ScheduleOptions => ({
  seed,
  seconds: 180,
  machines: 6,
  faults,
  pace: { serverMs: 600, commandMs: 4_000, faultMs: 1_200 },
});

test('the same seed gives the same plan, and another seed another one', () => {
  expect(makeSchedule(options(7))).toEqual(makeSchedule(options(7)));
  expect(makeSchedule(options(8))).not.toEqual(makeSchedule(options(7)));
});

test('a plan has every kind of fault that was asked for and no other', () => {
  const all = makeSchedule(options(3));
  expect(new Set(all.faults.map(({ fault }) => fault))).toEqual(new Set(faultKinds.filter((kind) => kind !== 'skew')));
  expect(all.skews).toContain(600_000);
  expect(all.skews).toContain(-600_000);
  const none = makeSchedule(options(3, []));
  expect(none).toMatchObject({ faults: [], smallDisk: null, skews: [0, 0, 0, 0, 0, 0] });
  expect(none.calls.every(({ mischief }) => mischief === null)).toBe(true);
  const pauses = makeSchedule(options(3, ['pause']));
  expect(new Set(pauses.faults.map(({ fault }) => fault))).toEqual(new Set(['pause']));
});

test('a process is held up for longer than a worker’s lock lives, and now and then for longer than commands wait', () => {
  const pauses = [1, 2, 3].flatMap((seed) => {
    return makeSchedule(options(seed)).faults.flatMap((step) => (step.fault === 'pause' ? [step.ms] : []));
  });
  expect(Math.min(...pauses)).toBeGreaterThan(3_000);
  expect(Math.max(...pauses)).toBeGreaterThan(15_000);
});

test('only a send that names its sender has a key', () => {
  for (const { call } of makeSchedule(options(5)).calls) {
    if (call.do === 'send' && call.key) expect(call.from).not.toBeNull();
  }
});
