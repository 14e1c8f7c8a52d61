import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fetchFrom } from './remote-fetch.js';
import { pushTo } from './remote-push.js';
import type { ExchangeLimits, RoundContext } from './remote-context.js';
import { Peer, remoteMesh, settle } from './testing/remote-mesh.js';
import type { RemoteMesh } from './testing/remote-mesh.js';

let mesh: RemoteMesh;
let studio: Peer;
let laptop: Peer;

beforeEach(async () => {
  mesh = await remoteMesh(['studio', 'laptop']);
  [studio, laptop] = mesh.peers as [Peer, Peer];
  await laptop.checkin('dev');
  await settle(mesh.peers);
});
afterEach(() => {
  mesh.remove();
});

function limit(peer: Peer, limits: Partial<ExchangeLimits>): void {
  for (const remote of peer.remotes) remote.limits = limits;
}
function context(peer: Peer): RoundContext {
  const [remote] = peer.remotes;
  if (remote === undefined) throw new Error('a peer has a remote');
  return { mesh: peer.mesh, remote, signal: AbortSignal.timeout(60_000), logger: peer.mesh.logger };
}
const remoteSeq = (handle: string): number =>
  Number(mesh.git.git(['-C', mesh.remote, 'rev-list', '--count', `refs/heads/mesh/${handle}`]));
const acceptedSeq = (peer: Peer, handle: string): number =>
  Number(peer.git('rev-list', '--count', `refs/heads/mesh/${handle}`));
async function sendMany(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await studio.send('laptop', n);
}
const all = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

test('a queue longer than the time of one push goes in several, each of which is kept', async () => {
  await sendMany(10);
  limit(studio, { firstPush: 4, pushMs: 0 });
  const before = remoteSeq('studio');
  const queued: number[] = [];
  for (let rounds = 0; rounds < 3; rounds++) {
    await studio.sync();
    expect((await studio.facts()).remotes[0]).toMatchObject({ state: 'ok' });
    queued.push((await studio.mesh.syncer.summary()).queued);
  }
  expect(queued).toEqual([6, 0, 0]);
  expect(remoteSeq('studio')).toBe(before + 10);
  mesh.git.git(['-C', mesh.remote, 'fsck', '--strict']);
});

test('a queue drains in one call of push where the time allows, whatever the steps', async () => {
  await sendMany(10);
  limit(studio, { firstPush: 3 });
  const fetched = await fetchFrom(context(studio), []);
  expect(await pushTo(context(studio), fetched)).toEqual({ unfinished: false });
  await laptop.sync();
  expect(await laptop.inbox('dev')).toEqual(all(10));
  expect(mesh.git.git(['-C', mesh.remote, 'rev-parse', studio.store.branch])).toBe(studio.tip());
});

test('a push that is cut by the deadline keeps what arrived, and the next takes smaller steps', async () => {
  await sendMany(8);
  limit(studio, { firstPush: 2 });
  const before = remoteSeq('studio');
  const ctx = context(studio);
  const fetched = await fetchFrom(ctx, []);
  const cut = new AbortController();
  const { transport } = ctx.remote;
  let pushes = 0;
  const cutAtThird: typeof transport = {
    watchable: null,
    open: async (service, options) => {
      const exchange = await transport.open(service, options);
      pushes += 1;
      if (pushes === 2) cut.abort();
      return exchange;
    },
  };
  const remote = { ...ctx.remote, transport: cutAtThird };
  expect(await pushTo({ ...ctx, remote, signal: cut.signal }, fetched)).toEqual({ unfinished: true });
  expect(remoteSeq('studio')).toBe(before + 2);
  expect((await studio.mesh.syncer.summary()).queued).toBe(6);
  await studio.sync();
  expect(remoteSeq('studio')).toBe(before + 8);
});

test('branches far ahead are accepted in steps over several rounds, and every message arrives once and in order', async () => {
  await sendMany(12);
  await studio.sync();
  const start = acceptedSeq(laptop, 'studio');
  limit(laptop, { commitsAtOnce: 2, fetchMs: 0 });
  const seen: number[] = [];
  for (let rounds = 0; rounds < 6; rounds++) {
    await laptop.sync();
    seen.push(acceptedSeq(laptop, 'studio') - start);
    expect((await laptop.facts()).problems).toEqual([]);
  }
  expect(seen).toEqual([2, 4, 6, 8, 10, 12]);
  expect(await laptop.inbox('dev')).toEqual(all(12));
});

test('a fetch says that more is there, and fetches nothing twice', async () => {
  await sendMany(6);
  await studio.sync();
  limit(laptop, { commitsAtOnce: 2, commitsAFetch: 4 });
  expect(await fetchFrom(context(laptop), [])).toMatchObject({ unfinished: true, rejected: [] });
  // Nothing may be asked for any more: what came is installed.
  const ctx = context(laptop);
  const { transport } = ctx.remote;
  const remote = {
    ...ctx.remote,
    transport: {
      watchable: null,
      open: async (...args: Parameters<typeof transport.open>) => {
        const exchange = await transport.open(...args);
        exchange.post = () => {
          throw new Error('nothing is to be fetched');
        };
        return exchange;
      },
    },
  };
  expect(await fetchFrom({ ...ctx, remote }, [])).toMatchObject({ unfinished: false, rejected: [] });
  expect(await laptop.accepted('studio')).toBe(studio.tip());
});

test('a commit that is not its machine’s stops a long branch just before the step that has it', async () => {
  await sendMany(5);
  const good = studio.tip();
  const bad = await studio.forge({ sign: false });
  studio.forcePush(mesh.remote, bad);
  limit(laptop, { commitsAtOnce: 2 });
  await laptop.sync();
  expect((await laptop.status()).problems.map(({ kind }) => kind)).toEqual(['unsigned']);
  const accepted = await laptop.accepted('studio');
  expect(accepted).toBe(studio.git('rev-parse', `${good}~1`));
});

test('a backlog of random content is whole at the other end', async () => {
  const texts = all(40).map(() => randomBytes(45).toString('base64'));
  for (const text of texts) await studio.send('laptop', text);
  await studio.sync();
  await laptop.sync();
  expect(await laptop.inbox('dev')).toEqual(texts);
  for (const peer of mesh.peers) peer.git('fsck', '--strict');
  mesh.git.git(['-C', mesh.remote, 'fsck', '--strict']);
});
