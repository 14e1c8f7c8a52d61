import type { EventLine, MessageState } from '@git-mesh/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { remoteMesh, settle } from './testing/remote-mesh.js';
import type { Peer, RemoteMesh } from './testing/remote-mesh.js';

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];

let now: number;
let mesh: RemoteMesh;
let studio: Peer;
let laptop: Peer;
beforeEach(async () => {
  now = Date.now();
  mesh = await remoteMesh(['studio', 'laptop'], { clock: { now: () => now } });
  [studio, laptop] = mesh.peers as [Peer, Peer];
  now += minute;
  await laptop.api.checkin({ agent_id: 'qa', ttl_seconds: 86_400, confirm: true }, laptop.call());
  await settle(mesh.peers);
});
afterEach(() => {
  mesh.remove();
});

/** What stock git, which knows nothing of a mesh, says of the shared repository. */
const hub = (...args: string[]): string => mesh.git.git(['-C', mesh.remote, ...args]);
const filesOf = (handle: string): string[] =>
  hub('ls-tree', '-r', '--name-only', `refs/heads/mesh/${handle}`).split('\n');
const commitsNaming = (id: string): string[] =>
  hub('log', '--all', '--reverse', '--date-order', '--format=%s', `--grep=^Mesh-Message: ${id}$`)
    .split('\n')
    .filter((subject) => subject !== '');

const send = async (extra: object = {}): Promise<{ id: string; message_id: number }> =>
  studio.api.send(
    { to: 'laptop', to_agent: 'qa', msg_type: 'note', payload: { repo: 'shop' }, ...extra },
    studio.call(),
  );
async function stateOf(id: string): Promise<MessageState | undefined> {
  const { messages } = await studio.api.sent({ limit: 100 }, studio.call());
  return messages.find((message) => message.id === id)?.state;
}
const ack = async (id: string): Promise<void> => {
  await laptop.api.ack({ agent_id: 'qa', message_ids: [id], confirm: true }, { ...laptop.call(), allowUlids: true });
};
const traced = async (peer: Peer, id: string): Promise<EventLine[]> => (await peer.api.trace({ id })).events;
const told = (events: EventLine[]): string[] =>
  events.map(({ event, machine, signature, revoked }) => [event, machine, signature, ...(revoked === true ? ['revoked'] : [])].join(' ')); // prettier-ignore

test('each state is what the shared branches prove to stock git, and none is told before', async () => {
  const { id } = await send();
  expect([await stateOf(id), filesOf('studio').some((file) => file.endsWith(`${id}.yaml`))]).toEqual(['queued', false]);
  expect(told(await traced(studio, id))).toEqual(['send studio good']);

  await studio.sync();
  expect([await stateOf(id), filesOf('studio').some((file) => file.endsWith(`${id}.yaml`))]).toEqual(['pushed', true]);
  const sending = hub('log', '--format=%H', `--grep=^Mesh-Message: ${id}$`, 'refs/heads/mesh/studio');

  now += minute;
  await laptop.sync();
  // The receipt is on the remote; the sender has not looked yet.
  const read = hub('log', '-1', '--format=%(trailers:key=Mesh-Read,valueonly)', 'refs/heads/mesh/laptop').trim();
  hub('merge-base', '--is-ancestor', sending, read.replace('studio@', ''));
  expect(hub('show', 'refs/heads/mesh/laptop:receipts/studio.yaml')).toContain(read.replace('studio@', ''));
  expect(await stateOf(id)).toBe('pushed');
  await studio.sync();
  expect(await stateOf(id)).toBe('delivered');

  now += minute;
  await ack(id);
  await studio.sync();
  expect([await stateOf(id), filesOf('laptop').includes(`acks/studio/${id}.yaml`)]).toEqual(['delivered', false]);
  await laptop.sync();
  expect([await stateOf(id), filesOf('laptop').includes(`acks/studio/${id}.yaml`)]).toEqual(['delivered', true]);
  await studio.sync();
  expect(await stateOf(id)).toBe('acked');
  const life = ['send studio good', 'receipt laptop good', 'ack laptop good'];
  for (const peer of mesh.peers) expect(told(await traced(peer, id))).toEqual(life);
});

test('a message that was read and pruned has its whole trace, from the history alone', async () => {
  const { id } = await send();
  await settle(mesh.peers);
  now += minute;
  await ack(id);
  await settle(mesh.peers);
  now += 2 * hour;
  await settle(mesh.peers);
  expect([...filesOf('studio'), ...filesOf('laptop')].filter((file) => file.includes(id))).toEqual([]);
  const life = ['send studio good', 'receipt laptop good', 'ack laptop good', 'prune studio good'];
  for (const peer of mesh.peers) expect(told(await traced(peer, id))).toEqual(life);
  expect(await stateOf(id)).toBe('acked');
  for (const { commit, subject } of await traced(studio, id))
    expect(hub('log', '-1', '--format=%s', commit)).toBe(subject);
});

test('one that nobody read has expired from then on, and its end is a commit that says so', async () => {
  const { id } = await send({ ttl_seconds: 60 });
  await settle(mesh.peers);
  expect(await stateOf(id)).toBe('delivered');
  now += 2 * minute;
  expect(await stateOf(id)).toBe('expired');
  now += day;
  await settle(mesh.peers);
  expect(await stateOf(id)).toBe('expired');
  expect(commitsNaming(id)).toEqual([
    'send note studio -> laptop/qa: shop',
    'expire note studio -> laptop/qa: never acked',
  ]);
  for (const peer of mesh.peers) {
    expect(told(await traced(peer, id))).toEqual(['send studio good', 'receipt laptop good', 'expire studio good']);
  }
});

test('one that was taken back says by a commit who did, before it was delivered and after', async () => {
  for (const deliver of [false, true]) {
    const { id } = await send();
    if (deliver) await settle(mesh.peers);
    now += minute;
    await studio.api.unsend({ id });
    await settle(mesh.peers);
    const [message] = (await studio.api.sent({ limit: 1 }, studio.call())).messages;
    expect(message).toMatchObject({ id, state: 'expired', unsent: true });
    expect(commitsNaming(id)[1]).toBe('unsend note studio -> laptop/qa');
    const receipt = deliver ? ['receipt laptop good'] : [];
    expect(told(await traced(laptop, id))).toEqual(['send studio good', ...receipt, 'unsend studio good']);
  }
});

test('the trace outlives its sender: one that left, and one that was revoked, which it says', async () => {
  const { id } = await send();
  await settle(mesh.peers);
  now += minute;
  await ack(id);
  await settle(mesh.peers);
  const life = ['send studio good', 'receipt laptop good', 'ack laptop good'];
  now += minute;
  await studio.api.leave({ confirm: true }, studio.call());
  await studio.sync();
  await laptop.sync();
  expect(told(await traced(laptop, id)).slice(0, 3)).toEqual(life);
  expect(told(await traced(studio, id)).slice(0, 3)).toEqual(life);
  await laptop.api.revoke({ machine: 'studio', confirm: true }, laptop.call());
  await laptop.sync();
  expect(told(await traced(laptop, id)).slice(0, 3)).toEqual(['send studio good revoked', ...life.slice(1)]);
});
