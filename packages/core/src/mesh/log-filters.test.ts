import { beforeEach, expect, test } from 'vitest';
import { parseCommitMessage } from '../domain/commit-message.js';
import type { Handle, Ulid } from '../domain/ids.js';
import type { AuditEvent, EventLine } from '../domain/results.js';
import type { TestMachine } from '../testing/index.js';
import { meshForEach } from '../testing/mesh-for-each.js';
import { housekeeping } from './housekeeping.js';
import { MessageReaders } from './message-readers.js';
import type { Walked } from './newest-first.js';

const { mesh, studio, laptop, desk } = meshForEach('studio', 'laptop', 'desk');

interface Sent {
  id: string;
}
const send = (from: TestMachine, to: string, fields: object): Promise<Sent> =>
  from.api.send({ to, msg_type: 'note', ...fields }, from.call());
/** The number that a machine gave a message. */
const numberOn = async (machine: TestMachine, { id }: Sent): Promise<number> => {
  const found = (await machine.store.journal.view()).messages.find((entry) => entry.id === id);
  if (found === undefined) throw new Error(`${machine.handle} has no message ${id}`);
  return found.n;
};

let freeze: Sent;
let unread: Sent;
let missed: Sent;
let answered: Sent;

/** studio's release and desk's ops write to laptop, where qa reads what is for it, and dev's session lapses. */
beforeEach(async () => {
  await studio.checkin('release', { repo: 'shop' });
  await desk.checkin('ops');
  await laptop.checkin('qa', { ttl_seconds: 86_400 });
  await laptop.checkin('dev', { ttl_seconds: 60 });
  await mesh.exchange();
  mesh.clock.advance(10_000);
  freeze = await send(studio, 'laptop', {
    to_agent: 'qa',
    msg_type: 'freeze',
    from_agent: 'release',
    payload: { repo: 'shop', reason: 'release 2.1' },
  });
  mesh.clock.advance(10_000);
  missed = await send(desk, 'laptop', { to_agent: 'dev', from_agent: 'ops', payload: { repo: 'shop' } });
  answered = await send(desk, 'laptop', { to_agent: 'qa', from_agent: 'ops', payload: { repo: 'site' } });
  mesh.clock.advance(120_000);
  unread = await send(studio, 'laptop', { from_agent: 'release', payload: { repo: 'site' } });
  await mesh.exchange();
  await laptop.api.ack(
    { agent_id: 'qa', message_ids: [await numberOn(laptop, freeze), await numberOn(laptop, answered)], confirm: true },
    laptop.call(),
  );
  await mesh.exchange();
});

const log = async (machine: TestMachine, input: object): Promise<EventLine[]> => {
  const lines: EventLine[] = [];
  for await (const line of machine.api.log(input)) lines.push(line);
  return lines;
};
const brief = (lines: EventLine[]): string[] =>
  lines.map(({ event, machine, agent }) => `${event} ${agent ?? '-'}@${machine}`);
const ids = (lines: EventLine[]): unknown[] => lines.map(({ id }) => id);
const everywhere = (): TestMachine[] => [studio, laptop, desk];

test('--agent and --machine tell what one did', async () => {
  expect(brief(await log(desk, { agent: 'QA' }))).toEqual(['ack qa@laptop', 'checkin qa@laptop']);
  expect(brief(await log(studio, { machine: 'desk' }))).toEqual([
    ...['send ops@desk', 'send ops@desk', 'checkin ops@desk', 'join -@desk'],
  ]);
  expect(await log(studio, { machine: 'desk', agent: 'qa' })).toEqual([]);
});

test('--type tells the messages of a type', async () => {
  expect(ids(await log(desk, { type: 'freeze' }))).toEqual([freeze.id]);
  expect(new Set(ids(await log(desk, { type: 'note' })))).toEqual(new Set([unread.id, answered.id, missed.id]));
});

test('--repo finds a repository’s messages, their acknowledgements and its sessions on every machine, whomever they were for', async () => {
  for (const machine of everywhere()) {
    const lines = await log(machine, { repo: 'shop' });
    expect(brief(lines)).toEqual(['ack qa@laptop', 'send ops@desk', 'send release@studio', 'checkin release@studio']);
    expect(ids(lines).slice(1, 3)).toEqual([missed.id, freeze.id]);
    // One commit acknowledges a message of each repository.
    expect(brief(await log(machine, { repo: 'site' })).sort()).toEqual([
      ...['ack qa@laptop', 'send ops@desk', 'send release@studio'],
    ]);
  }
  mesh.clock.advance(10_000);
  await studio.api.checkout({ agent_id: 'release', confirm: true }, studio.call());
  expect(brief(await log(studio, { repo: 'shop', limit: 1 }))).toEqual(['checkout release@studio']);
  const events: AuditEvent[] = [];
  for await (const event of studio.api.audit({ repo: 'shop', machine: 'studio' })) events.push(event);
  expect(events.map(({ repo }) => repo)).toEqual(['shop', 'shop', 'shop']);
});

test('--message tells what concerns one message, by its ULID or its number here', async () => {
  const story = ['ack qa@laptop', 'send ops@desk'];
  for (const machine of everywhere()) {
    const lines = await log(machine, { message: answered.id });
    expect(brief(lines)).toEqual(story);
    // The commit that acknowledges it acknowledges another first.
    expect(new Set(ids(lines))).toEqual(new Set([answered.id]));
  }
  const n = await numberOn(laptop, answered);
  const here = await log(laptop, { message: n });
  expect(brief(here)).toEqual(story);
  expect(here.map(({ message_id }) => message_id)).toEqual([n, n]);
  await expect(log(laptop, { message: 999 })).rejects.toMatchObject({ errorName: 'unknown_message' });
  await expect(log(laptop, { message: 'x' })).rejects.toMatchObject({ errorName: 'invalid_argument' });
});

test('--grep takes the subject’s words in either case', async () => {
  expect(ids(await log(desk, { grep: 'FREEZE RELEASE' }))).toEqual([freeze.id]);
  expect(await log(desk, { grep: 'no such words' })).toEqual([]);
});

test('--since and --until bound it, and --limit counts what the other filters leave', async () => {
  const sends = await log(studio, { machine: 'desk', type: 'note' });
  const at = sends[0]?.at ?? '';
  expect(await log(studio, { machine: 'desk', since: at, until: at })).toEqual(sends);
  expect(await log(studio, { machine: 'desk', type: 'note', until: '2020-01-01' })).toEqual([]);
  expect(await log(studio, { machine: 'desk', type: 'note', limit: 1 })).toEqual(sends.slice(0, 1));
  expect(ids(await log(studio, { type: 'note', repo: 'shop', limit: 1 }))).toEqual([missed.id]);
});

test('--unacked names what nobody it was for acknowledged, on the machine that missed it as on all others', async () => {
  for (const machine of everywhere())
    expect(ids(await log(machine, { unacked: true }))).toEqual([unread.id, missed.id]);
  expect(ids(await log(laptop, { unacked: true, repo: 'shop' }))).toEqual([missed.id]);
  expect(ids(await log(laptop, { unacked: true, machine: 'studio' }))).toEqual([unread.id]);
  expect(ids(await log(laptop, { unacked: true, agent: 'ops', type: 'note', limit: 1 }))).toEqual([missed.id]);
});

test('what a lapsed session never read is missed at its next check-in, and unacked in the log', async () => {
  const again = await laptop.checkin('dev');
  expect(again.missed.ids.sort()).toEqual([missed.id, unread.id].sort());
  const lines = await log(laptop, { unacked: true });
  for (const id of again.missed.ids) expect(ids(lines)).toContain(id);
});

test('an acknowledgement counts when it and its message were pruned', async () => {
  const other = await send(studio, 'laptop', { to_agent: 'qa', payload: {} });
  await mesh.exchange();
  // The file of an acknowledgement leaves the tip with its message; the history keeps it.
  await laptop.api.ack({ agent_id: 'qa', message_ids: [await numberOn(laptop, other)], confirm: true }, laptop.call());
  await mesh.exchange();
  mesh.clock.advance(2 * 3_600_000);
  for (const machine of everywhere()) await housekeeping(machine.ctx);
  await mesh.exchange();
  for (const machine of everywhere()) await housekeeping(machine.ctx);
  await mesh.exchange();
  expect((await laptop.git('ls-tree', '-r', '--name-only', laptop.store.branch)).includes(other.id)).toBe(false);
  expect(ids(await log(desk, { unacked: true }))).toEqual([unread.id, missed.id]);
  expect(brief(await log(desk, { message: other.id }))).toContain('ack qa@laptop');
});

test('a picture of it has the life of a freeze between other machines, too', async () => {
  const events: AuditEvent[] = [];
  for await (const event of desk.api.audit({ type: 'freeze' })) events.push(event);
  expect(events).toMatchObject([{ id: freeze.id, repo: 'shop', expires_at: expect.stringMatching(/^20/) as string }]);
});

const reader = (name: string): Pick<Walked, 'handle' | 'said'> => {
  const [handle = '', agent = ''] = name.split('/');
  const text = `ack\n\nMesh-Event: ack\nMesh-Agent: ${agent}\nMesh-Message: ${freeze.id}\nMesh-Seq: 1\n`;
  return { handle: handle as Handle, said: parseCommitMessage(text) };
};

test.each([
  ['laptop/qa', 'laptop/qa', true],
  ['laptop/qa', 'laptop/QA', true],
  ['laptop/QA', 'laptop/qa', true],
  ['laptop/qa', 'laptop/dev', false],
  ['laptop/qa', 'desk/qa', false],
  ['laptop', 'laptop/dev', true],
  ['laptop', 'desk/dev', false],
  ['*', 'desk/dev', true],
])('a message to %s is acknowledged by %s: %s', (to, by, is) => {
  const readers = new MessageReaders();
  readers.note(reader(by));
  expect(readers.acknowledged({ id: freeze.id as Ulid, to })).toBe(is);
});
