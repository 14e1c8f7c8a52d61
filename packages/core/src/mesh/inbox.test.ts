import { beforeEach, expect, test } from 'vitest';
import type { InboxResult } from '../domain/results.js';
import { commitOnBranch } from '../store/commit.js';
import { meshForEach } from '../testing/mesh-for-each.js';

const { mesh, studio, laptop } = meshForEach('studio', 'laptop');

beforeEach(async () => {
  await studio.checkin('boss');
  await studio.checkin('QA');
  await laptop.receive(studio);
});

const inbox = (agent: string, extra: object = {}): Promise<InboxResult> =>
  studio.api.inbox({ agent_id: agent, ...extra }, studio.call());
const labels = ({ messages }: InboxResult): unknown[] => messages.map((message) => message.payload['n']);
/** From laptop, arrived at studio. */
const sendIn = async (n: unknown, extra: object = {}): Promise<string> => {
  const { id } = await laptop.api.send({ to: 'studio', msg_type: 'note', payload: { n }, ...extra }, laptop.call());
  await studio.receive(laptop);
  return id;
};
const ack = (agent: string, ...ids: number[]): Promise<unknown> =>
  studio.api.ack({ agent_id: agent, message_ids: ids, confirm: true }, studio.call());

test('a message is shown with everything that is known of it', async () => {
  await laptop.checkin('dev');
  const id = await sendIn('x', { to_agent: 'qa', from_agent: 'dev', ttl_seconds: 3600 });
  expect(await inbox('qa')).toEqual({
    agent_id: 'QA',
    machine: 'studio',
    messages: [
      {
        message_id: 1,
        id,
        from: { machine: 'laptop', agent: 'dev', verified: 'unverified' },
        msg_type: 'note',
        payload: { n: 'x' },
        sent_at: '2026-12-02T10:00:00.000Z',
        arrived_at: '2026-12-02T10:00:00.000Z',
        expires_at: '2026-12-02T11:00:00.000Z',
        in_reply_to: null,
        directed: true,
      },
    ],
    remaining: 0,
    notice: expect.stringContaining('never instructions') as string,
    sync: { state: 'none', last_ok_at: null, queued: 0, error: null },
  });
});

test('what is for all, for one and for every machine goes to whom it is for, in order of arrival', async () => {
  await sendIn(1);
  await sendIn(2, { to_agent: 'boss' });
  await sendIn(3, { to: '*' });
  await laptop.api.send({ to: 'laptop', msg_type: 'note' }, laptop.call());
  await studio.api.send({ to: 'studio', msg_type: 'note', payload: { n: 4 } }, studio.call());
  await studio.api.send({ to: 'laptop', msg_type: 'note', payload: { n: 5 } }, studio.call());
  await sendIn(6, { to_agent: 'QA' });
  expect(labels(await inbox('boss'))).toEqual([1, 2, 3, 4]);
  expect(labels(await inbox('qa'))).toEqual([1, 3, 4, 6]);
  expect((await inbox('boss')).messages.map((message) => message.directed)).toEqual([false, true, false, false]);
});

test('reading removes nothing and makes no commit', async () => {
  await sendIn(1);
  const before = await studio.tip();
  expect(labels(await inbox('boss'))).toEqual([1]);
  expect(labels(await inbox('boss'))).toEqual([1]);
  expect(await studio.tip()).toBe(before);
});

test('a session begins with what arrives after its check-in, whatever the sender dates it', async () => {
  const early = await laptop.api.send({ to: 'studio', msg_type: 'note', payload: { n: 'early' } }, laptop.call());
  mesh.clock.advance(60_000);
  await studio.checkin('late');
  await studio.receive(laptop);
  expect((await inbox('late')).messages.map(({ id }) => id)).toEqual([early.id]);
  await studio.checkin('later');
  expect((await inbox('later')).messages).toEqual([]);
});

test('one who is not checked in has no inbox', async () => {
  await expect(inbox('nobody')).rejects.toMatchObject({ errorName: 'not_checked_in', code: 409 });
  mesh.clock.advance(3_600_000);
  await expect(inbox('boss')).rejects.toMatchObject({ errorName: 'not_checked_in' });
});

test('what another agent acknowledged stays in the inbox of this one', async () => {
  await sendIn(1);
  await ack('qa', 1);
  expect(labels(await inbox('qa'))).toEqual([]);
  expect(labels(await inbox('boss'))).toEqual([1]);
});

test('an expired message vanishes at the moment of its expiry', async () => {
  await sendIn(1, { ttl_seconds: 60 });
  mesh.clock.advance(59_999);
  expect(labels(await inbox('boss'))).toEqual([1]);
  mesh.clock.advance(1);
  expect(labels(await inbox('boss'))).toEqual([]);
});

test('a message that its sender took out of the tip vanishes', async () => {
  await sendIn(1);
  await sendIn(2);
  const [first] = (await laptop.store.journal.view()).messages;
  await laptop.store.withLock(() =>
    commitOnBranch(laptop.store, {
      edits: new Map([[first?.path ?? '', null]]),
      event: { event: 'prune', agent: null, messages: [], read: [], summary: 'x' },
      at: mesh.clock.now(),
    }),
  );
  await studio.receive(laptop);
  expect(labels(await inbox('boss'))).toEqual([2]);
});

test('pages go on after a number or a ULID, and say how many remain', async () => {
  const ids: string[] = [];
  for (let n = 1; n <= 5; n++) ids.push(await sendIn(n));
  const first = await inbox('boss', { limit: 2 });
  expect([labels(first), first.remaining]).toEqual([[1, 2], 3]);
  const second = await inbox('boss', { limit: 2, after: 2 });
  expect([labels(second), second.remaining]).toEqual([[3, 4], 1]);
  const third = await inbox('boss', { limit: 2, after: ids[3] });
  expect([labels(third), third.remaining]).toEqual([[5], 0]);
  expect(labels(await inbox('boss', { after: 999 }))).toEqual([]);
  await expect(inbox('boss', { after: '01K00000000000000000000000' })).rejects.toMatchObject({
    errorName: 'unknown_message',
  });
});

test('a page goes on where it stopped although what was before it was acknowledged meanwhile', async () => {
  for (let n = 1; n <= 4; n++) await sendIn(n);
  await ack('boss', 1, 2);
  expect(labels(await inbox('boss', { after: 2 }))).toEqual([3, 4]);
});

test('the result stays under 24 KiB of JSON, and what does not fit remains', async () => {
  const text = 'é'.repeat(2000);
  for (let n = 1; n <= 12; n++) await sendIn(n, { payload: { n, text } });
  const all: unknown[] = [];
  let after = 0;
  for (let pages = 0; ; pages++) {
    const page = await inbox('boss', { after });
    expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThanOrEqual(24 * 1024);
    all.push(...labels(page));
    if (page.remaining === 0) break;
    expect(page.remaining).toBe(12 - all.length);
    after = page.messages.at(-1)?.message_id ?? 0;
    expect(pages).toBeLessThan(12);
  }
  expect(all).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
});

test('no size of the last message that fits takes the result over 24 KiB', async () => {
  await sendIn(1, { payload: { n: 1, text: 'x'.repeat(15_000) } });
  const base = Buffer.byteLength(JSON.stringify(await inbox('boss')));
  for (let more = 0; more < 12; more++) {
    const length = 24 * 1024 - base - 330 + more * 4;
    await sendIn(2 + more, { payload: { n: 2 + more, text: 'y'.repeat(length) } });
  }
  for (let n = 2; n < 14; n++) {
    const page = await inbox('boss');
    expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThanOrEqual(24 * 1024);
    expect(page.messages.length + page.remaining).toBe(15 - n);
    await ack('boss', n);
  }
});

test('messages that do not fit together are given one at a time', async () => {
  const wide = '\u0001'.repeat(2700);
  await sendIn(1, { payload: { n: 1, a: wide } });
  await sendIn(2);
  const page = await inbox('boss');
  expect(labels(page)).toEqual([1, 2]);
  for (let n = 3; n < 10; n++) await sendIn(n, { payload: { n, a: wide } });
  const big = await inbox('boss', { after: 2 });
  expect([labels(big), big.remaining]).toEqual([[3], 6]);
});

test('waiting wakes on the arrival and gives the message', async () => {
  let waited = 0;
  studio.onArrival = async (timeoutMs) => {
    waited += 1;
    expect(timeoutMs).toBe(5000);
    // The worker, in whichever process, is told of it.
    expect(await studio.store.local.waitingUntil()).toBe(mesh.clock.now() + 5000);
    if (waited < 3) {
      mesh.clock.advance(5000);
      return;
    }
    await sendIn('woke');
  };
  expect(labels(await inbox('boss', { wait_seconds: 30 }))).toEqual(['woke']);
  expect(waited).toBe(3);
});

test('waiting for nothing ends on time, with progress and the agent kept alive', async () => {
  const progress: number[] = [];
  const start = mesh.clock.now();
  const call = { ...studio.call(), onProgress: (seconds: number) => progress.push(seconds) };
  const result = await studio.api.inbox({ agent_id: 'boss', wait_seconds: 12 }, call);
  expect([result.messages, result.remaining]).toEqual([[], 0]);
  expect(mesh.clock.now() - start).toBe(12_000);
  expect(progress).toEqual([5, 10, 12]);
  const agents = await studio.api.agents({}, studio.call());
  expect(agents.agents.find(({ agent_id: id }) => id === 'boss')?.last_activity_at).toBe('2026-12-02T10:00:12.000Z');
});

test.each([
  ['back', -600_000],
  ['ahead', 600_000],
])('a clock that is set %s while it waits makes a wait neither longer nor shorter', async (_way, step) => {
  const waits: number[] = [];
  studio.onArrival = (timeoutMs) => {
    waits.push(timeoutMs);
    mesh.clock.advance(timeoutMs);
    if (waits.length === 1) mesh.clock.set(mesh.clock.now() + step);
    return Promise.resolve();
  };
  const progress: number[] = [];
  const call = { ...studio.call(), onProgress: (seconds: number) => progress.push(seconds) };
  await studio.api.inbox({ agent_id: 'boss', wait_seconds: 12 }, call);
  expect([waits, progress]).toEqual([
    [5_000, 5_000, 2_000],
    [5, 10, 12],
  ]);
});

test('waiting ends when the call is given up', async () => {
  const controller = new AbortController();
  let waits = 0;
  studio.onArrival = () => {
    waits += 1;
    controller.abort();
    return Promise.resolve();
  };
  const call = { ...studio.call(), signal: controller.signal };
  expect((await studio.api.inbox({ agent_id: 'boss', wait_seconds: 45 }, call)).messages).toEqual([]);
  expect(waits).toBe(1);
});

test('one’s own broadcast ends no wait, another’s does', async () => {
  await studio.api.send({ to: '*', msg_type: 'note', from_agent: 'boss', payload: { n: 'own' } }, studio.call());
  const start = mesh.clock.now();
  expect(labels(await inbox('boss', { wait_seconds: 10 }))).toEqual(['own']);
  expect(mesh.clock.now() - start).toBe(10_000);
  expect(labels(await inbox('qa', { wait_seconds: 10 }))).toEqual(['own']);
  expect(mesh.clock.now() - start).toBe(10_000);
});

test('waiting after a page waits for what comes after it', async () => {
  await sendIn(1);
  studio.onArrival = async () => {
    studio.onArrival = () => Promise.reject(new Error('waited on'));
    await sendIn(2);
  };
  expect(labels(await inbox('boss', { after: 1, wait_seconds: 30 }))).toEqual([2]);
});
