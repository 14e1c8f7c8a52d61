import { rmSync } from 'node:fs';
import { commitOnBranch, encodeRoster, keyFingerprint, rosterPath, toIso } from '@git-mesh/core';
import type { EventLine, Handle, InboxMessage } from '@git-mesh/core';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { joinMesh } from './join.js';
import { Peer, remoteMesh, settle } from './testing/remote-mesh.js';
import type { RemoteMesh } from './testing/remote-mesh.js';

let mesh: RemoteMesh;
let studio: Peer;
let laptop: Peer;
let desk: Peer;

beforeEach(async () => {
  mesh = await remoteMesh(['studio', 'laptop', 'desk'], { policy: 'roster' });
  [studio, laptop, desk] = mesh.peers as [Peer, Peer, Peer];
});
afterEach(() => {
  mesh.remove();
});

const admit = async (by: Peer, machine: string): Promise<void> => {
  const result = await by.api.admit({ machine, confirm: true }, by.call());
  expect([result.preview, result.already]).toEqual([false, false]);
};
const revoke = async (by: Peer, machine: string): Promise<number> =>
  (await by.api.revoke({ machine, confirm: true }, by.call())).through.seq;
const kinds = async (peer: Peer): Promise<string[]> =>
  (await peer.status()).problems.map(({ kind, machine }) => `${kind} ${machine ?? ''}`).sort();
const machines = async (peer: Peer): Promise<string[]> =>
  (await peer.api.agents({}, peer.call())).machines.map(({ handle, verified }) => `${handle} ${verified}`);
const agentsAt = async (peer: Peer): Promise<string[]> =>
  (await peer.api.agents({}, peer.call())).agents.map((agent) => `${agent.agent_id}@${agent.machine}`);
const received = async (peer: Peer, agent: string): Promise<InboxMessage[]> =>
  (await peer.api.inbox({ agent_id: agent, limit: 100 }, peer.call())).messages;
async function lines(peer: Peer): Promise<EventLine[]> {
  const found: EventLine[] = [];
  for await (const line of peer.api.log({})) found.push(line);
  return found;
}
/** What a person does who writes a statement by other means than the command. */
const state = (by: Peer, about: Peer): Promise<unknown> =>
  by.store.withLock(() =>
    commitOnBranch(by.store, {
      edits: new Map([
        [
          rosterPath(about.handle as Handle),
          encodeRoster({
            handle: about.handle as Handle,
            key: about.store.signer.publicKey,
            admitted_at: toIso(Date.now()),
          }),
        ],
      ]),
      event: { event: 'roster', agent: null, journal: 0, messages: [], read: [], summary: `admit ${about.handle}` },
      author: null,
      at: Date.now(),
    }),
  );

test('a machine that joins waits: nothing of it is seen, and it is named with its key and the way in', async () => {
  await studio.checkin('boss');
  await laptop.checkin('dev');
  await laptop.send('studio', 1);
  await settle(mesh.peers);
  expect(await studio.accepted('laptop')).toBeNull();
  expect(await machines(studio)).toEqual(['studio signed']);
  expect(await studio.inbox('boss')).toEqual([]);
  const { problems } = await studio.api.agents({}, studio.call());
  expect(problems?.find(({ machine }) => machine === 'laptop')).toEqual({
    kind: 'not_admitted',
    machine: 'laptop',
    message: `the branch of laptop on remote origin is not accepted: it waits to be admitted; its key is ${keyFingerprint(laptop.store.signer.publicKey)}`,
    fix: 'ask whoever runs laptop for its fingerprint (git mesh keys there); where it is this one, git mesh admit laptop admits it',
  });
  await expect(studio.send('laptop', 2)).rejects.toThrow(/laptop/);
  const fruitless = studio.api.revoke({ machine: 'laptop', confirm: true }, studio.call());
  await expect(fruitless).rejects.toThrow(/waits to be admitted, so there is nothing to revoke/);
});

test('one that waits reads the members, is told so, and its own word counts for nothing', async () => {
  await settle(mesh.peers);
  expect(await machines(laptop)).toEqual(['laptop signed', 'studio signed']);
  expect(await kinds(laptop)).toEqual(['not_admitted desk', 'not_admitted laptop']);
  const told = (await laptop.status()).problems.find(({ machine }) => machine === 'desk');
  expect(told?.fix).toBe('nothing can be done about it here: a member has to admit desk, and this machine is none');
  const sent = await laptop.api.send({ to: 'studio', msg_type: 'note' }, laptop.call());
  expect(sent.warning).toContain('nobody reads this until a member runs `git mesh admit laptop`');
  const admits = laptop.api.admit({ machine: 'desk', confirm: true }, laptop.call());
  await expect(admits).rejects.toThrow(/^laptop cannot admit desk: only a member's word counts/);
  await state(laptop, desk);
  await settle(mesh.peers);
  expect([await studio.accepted('desk'), await laptop.accepted('desk')]).toEqual([null, null]);
});

test('what is asked of one machine at once about members is done in its order', async () => {
  await settle(mesh.peers);
  const call = { confirm: true };
  const [first, second, third] = await Promise.all([
    studio.api.admit({ machine: 'laptop', ...call }, studio.call()),
    studio.api.revoke({ machine: 'laptop', ...call }, studio.call()),
    studio.api.admit({ machine: 'desk', ...call }, studio.call()),
  ]);
  expect([first.already, second.machine, third.already]).toEqual([false, 'laptop', false]);
  expect(await machines(studio)).toEqual(['desk signed', 'studio signed']);
  // One that fails keeps nobody behind it from its turn.
  const [wrong, right] = await Promise.allSettled([
    studio.api.revoke({ machine: 'nobody', ...call }, studio.call()),
    studio.api.revoke({ machine: 'desk', ...call }, studio.call()),
  ]);
  expect([wrong.status, right.status]).toEqual(['rejected', 'fulfilled']);
});

test('a machine that another process admits meanwhile is revoked without a detour', async () => {
  await settle(mesh.peers);
  const other = await Peer.open(mesh.git, studio.store.dir);
  const [admitted, revoked] = await Promise.allSettled([
    other.api.admit({ machine: 'laptop', confirm: true }, other.call()),
    studio.api.revoke({ machine: 'laptop', confirm: true }, studio.call()),
  ]);
  expect(admitted.status).toBe('fulfilled');
  // It was first, or it found it admitted: never anything between.
  if (revoked.status === 'rejected') expect(String(revoked.reason)).toContain('so there is nothing to revoke');
});

test('a revoked member is told that a new key changes nothing, and goes on with it once it is taken back', async () => {
  await settle(mesh.peers);
  await admit(studio, 'laptop');
  await settle(mesh.peers);
  await revoke(studio, 'laptop');
  await settle(mesh.peers);
  const { warning } = await laptop.api.rotateKey({ confirm: true }, laptop.call());
  expect(warning).toMatch(
    /^this machine was revoked by studio: .*\. A new key changes nothing about that: ask whoever/,
  );
  await settle(mesh.peers);
  await admit(studio, 'laptop');
  await settle(mesh.peers);
  expect(await studio.accepted('laptop')).toBe(laptop.tip());
});

test('an admission shows the fingerprint first, and is of that key alone', async () => {
  await settle([studio]);
  const tip = studio.tip();
  const key = keyFingerprint(laptop.store.signer.publicKey);
  const preview = await studio.api.admit({ machine: 'laptop' }, studio.call());
  expect([preview.preview, preview.key, preview.already, studio.tip()]).toEqual([true, key, false, tip]);
  const other = keyFingerprint(desk.store.signer.publicKey);
  const wrong = studio.api.admit({ machine: 'laptop', key: other, confirm: true }, studio.call());
  await expect(wrong).rejects.toThrow(`The key of laptop is ${key} and not ${other}, so nothing was admitted`);
  expect(studio.tip()).toBe(tip);
  await studio.api.admit({ machine: 'laptop', key, confirm: true }, studio.call());
  expect(studio.git('log', '-1', '--format=%s', studio.store.branch)).toBe(`roster admit laptop ${key}`);
  const again = await studio.api.admit({ machine: 'laptop', confirm: true }, studio.call());
  expect(again.already).toBe(true);
});

test('what an admitted machine sent while it waited arrives, and its own admissions count in the same round', async () => {
  await studio.checkin('boss');
  await desk.checkin('qa');
  await desk.send('studio', 'early');
  await settle(mesh.peers);
  await admit(studio, 'laptop');
  await studio.sync();
  await laptop.sync();
  expect(await kinds(laptop)).toEqual(['not_admitted desk']);
  await admit(laptop, 'desk');
  await laptop.sync();
  // One round takes in laptop's word and, by it, desk.
  await studio.sync();
  expect(await machines(studio)).toEqual(['desk signed', 'laptop signed', 'studio signed']);
  expect(await studio.inbox('boss')).toEqual(['early']);
  await settle(mesh.peers);
  expect(await Promise.all(mesh.peers.map((peer) => kinds(peer)))).toEqual([[], [], []]);
  const late = await joinLate();
  await late.sync();
  expect(await machines(late)).toEqual(['desk signed', 'laptop signed', 'late signed', 'studio signed']);
});

async function joinLate(): Promise<Peer> {
  const dir = mesh.git.path('late');
  await joinMesh({ url: mesh.remote, dir, env: process.env, logger: studio.mesh.logger, machine: 'late', hostname: 'h' }); // prettier-ignore
  return Peer.open(mesh.git, dir);
}

test('an admission takes in what was fetched before, with no remote in reach', async () => {
  await desk.send('studio', 'early');
  await desk.sync();
  await studio.checkin('boss');
  await studio.sync();
  rmSync(mesh.remote, { recursive: true });
  await admit(studio, 'desk');
  await studio.sync();
  expect(await studio.inbox('boss')).toEqual(['early']);
  const { problems = [] } = await studio.api.agents({}, studio.call());
  expect(problems.map(({ kind, machine }) => `${kind} ${machine ?? ''}`)).toEqual(['not_admitted laptop']);
});

test('what follows an admission acts on it at once, with no exchange in between and no remote in reach', async () => {
  await desk.checkin('qa');
  await desk.send('studio', 'early');
  await desk.sync();
  await studio.checkin('boss');
  await studio.sync();
  rmSync(mesh.remote, { recursive: true });
  await expect(studio.api.revoke({ machine: 'desk', confirm: true }, studio.call())).rejects.toMatchObject({
    errorName: 'conflict',
    message: expect.stringMatching(/waits to be admitted.*have its branch deleted/) as string,
  });
  await admit(studio, 'desk');
  expect(await machines(studio)).toEqual(['desk signed', 'studio signed']);
  expect(await agentsAt(studio)).toContain('qa@desk');
  expect(await studio.inbox('boss')).toEqual(['early']);
  const welcome = { to: 'desk', to_agent: 'qa', msg_type: 'note', payload: {} };
  expect((await studio.api.send(welcome, studio.call())).recipients).toEqual(['qa']);
  expect(await revoke(studio, 'desk')).toBe(3);
  expect(await agentsAt(studio)).not.toContain('qa@desk');
});

test('a key other than the admitted one stays out', async () => {
  await settle([studio]);
  const { record, at } = { record: desk.store.signer.publicKey, at: toIso(Date.now()) };
  const statement = { handle: 'laptop' as Handle, key: record, admitted_at: at };
  await studio.store.withLock(() =>
    commitOnBranch(studio.store, {
      edits: new Map([[rosterPath('laptop' as Handle), encodeRoster(statement)]]),
      event: { event: 'roster', agent: null, journal: 0, messages: [], read: [], summary: 'admit another key' },
      author: null,
      at: Date.now(),
    }),
  );
  await studio.sync();
  expect(await studio.accepted('laptop')).toBeNull();
  const { problems } = await studio.status();
  expect(problems.find(({ machine }) => machine === 'laptop')?.message).toContain(
    `its key is ${keyFingerprint(laptop.store.signer.publicKey)}, and laptop was admitted with ${keyFingerprint(record)}`,
  );
});

async function threeMembers(): Promise<void> {
  await settle([studio]);
  await admit(studio, 'laptop');
  await admit(studio, 'desk');
  await studio.checkin('boss');
  await desk.checkin('qa');
  await laptop.checkin('dev');
  await settle(mesh.peers);
}

test('a revoked machine is read up to the named commit: what came before stays, marked, and nothing after arrives', async () => {
  await threeMembers();
  await laptop.send('*', 'before');
  await laptop.api.send({ to: '*', msg_type: 'freeze', payload: { repo: 'shop' } }, laptop.call());
  await settle(mesh.peers);
  expect((await desk.api.agents({}, desk.call())).freezes.length).toBe(1);
  const preview = await studio.api.revoke({ machine: 'laptop' }, studio.call());
  const seq = await revoke(studio, 'laptop');
  expect(preview).toMatchObject({ preview: true, through: { seq }, binds: 'everywhere' });
  expect(studio.git('log', '-1', '--format=%s', studio.store.branch)).toBe(`roster revoke laptop through ${seq}`);
  // The thief goes on before anybody else has heard of it.
  await laptop.send('*', 'after');
  await studio.sync();
  await laptop.sync();
  await desk.sync();
  await studio.sync();
  for (const [peer, agent] of [[studio, 'boss'], [desk, 'qa']] as const) {
    const inbox = await received(peer, agent);
    expect(inbox.map(({ payload, from }) => [payload['n'] ?? 'freeze', from.verified])).toEqual([
      ['before', 'unverified'],
      ['freeze', 'unverified'],
    ]);
    const { freezes } = await peer.api.agents({}, peer.call());
    expect([await machines(peer), freezes]).toEqual([['desk signed', 'studio signed'], []]);
    expect(await agentsAt(peer)).toEqual(['qa@desk', 'boss@studio']);
    const logged = await lines(peer);
    expect(logged.filter(({ machine, revoked }) => (machine === 'laptop') !== (revoked === true))).toEqual([]);
    expect(logged.filter(({ machine, event }) => machine === 'laptop' && event === 'send').length).toBe(2);
    // Desk took the revocation and what came after it in at once: of that it merely reads nothing.
    expect(await kinds(peer)).toEqual(peer === studio ? ['revoked laptop'] : []);
    await expect(peer.send('laptop', 'x')).rejects.toThrow(/^laptop was revoked by studio, so nothing was sent/);
  } // prettier-ignore
  const own = await laptop.api.send({ to: 'studio', msg_type: 'note' }, laptop.call());
  expect([await kinds(laptop), own.warning]).toEqual([['revoked laptop'], 'This machine was revoked by studio: nobody reads this.']); // prettier-ignore
});

test('a reader that had taken in more than the named commit shows no more of it', async () => {
  await threeMembers();
  const through = (await studio.api.revoke({ machine: 'laptop' }, studio.call())).through;
  await laptop.send('*', 'after');
  await laptop.api.send({ to: '*', msg_type: 'freeze', payload: { repo: 'shop' } }, laptop.call());
  await laptop.sync();
  await desk.sync();
  expect(await desk.inbox('qa')).toEqual(['after', undefined]);
  expect(await revoke(studio, 'laptop')).toBe(through.seq);
  await studio.sync();
  await desk.sync();
  expect(await desk.inbox('qa')).toEqual([]);
  expect((await desk.mesh.branches.get('laptop' as Handle))?.tip).toBe(through.commit);
  expect((await desk.api.agents({}, desk.call())).freezes).toEqual([]);
  // And the journal comes to rest at it.
  const tip = desk.tip();
  for (let rounds = 0; rounds < 3; rounds++) await desk.sync();
  expect(desk.tip()).toBe(tip);
  const late = await joinLate();
  await studio.sync();
  await admit(studio, 'late');
  await settle([studio, late]);
  expect((await late.mesh.branches.get('laptop' as Handle))?.tip).toBe(through.commit);
  expect(await machines(late)).toEqual(['desk signed', 'late signed', 'studio signed']);
});

test('whoever revoked a machine can take that back, and its branch goes on', async () => {
  await threeMembers();
  await revoke(studio, 'laptop');
  await laptop.send('*', 'meanwhile');
  await settle(mesh.peers);
  expect(await desk.inbox('qa')).toEqual([]);
  const other = desk.api.admit({ machine: 'laptop', confirm: true }, desk.call());
  await expect(other).rejects.toThrow(/was revoked by studio, and only studio can take that back/);
  await admit(studio, 'laptop');
  await settle(mesh.peers);
  expect(await desk.inbox('qa')).toEqual(['meanwhile']);
  expect(await machines(desk)).toEqual(['desk signed', 'laptop signed', 'studio signed']);
  expect(await kinds(desk)).toEqual([]);
});

test('who is taken back counts in the round that brings it, and so do those whom it admitted meanwhile', async () => {
  await admit(studio, 'laptop');
  await settle(mesh.peers);
  await revoke(studio, 'laptop');
  await studio.sync();
  await desk.sync();
  // Said while it was revoked; its branch does not move after that.
  await state(laptop, desk);
  await laptop.sync();
  await desk.sync();
  expect(await kinds(desk)).toContain('revoked laptop');
  await admit(studio, 'laptop');
  await studio.sync();
  await desk.sync();
  expect(await kinds(desk)).toEqual([]);
});

test('the keys list everyone, those that wait too, and vouch for none of these to git', async () => {
  await settle([studio]);
  await admit(studio, 'laptop');
  await settle([studio, laptop]);
  const { keys, allowed_signers: signers, policy } = await laptop.api.keys();
  expect(policy).toBe('roster');
  expect(keys.map(({ machine, standing, by, verified }) => [machine, standing, by, verified])).toEqual([
    ['desk', 'waiting', null, 'unverified'],
    ['laptop', 'admitted', 'studio', 'signed'],
    ['studio', 'founder', null, 'signed'],
  ]);
  const line = (peer: Peer): string => `${peer.handle}@mesh.invalid namespaces="git" ${peer.store.signer.publicKey}\n`;
  expect(signers).toBe(line(laptop) + line(studio));
});

test('an unknown machine is looked for, then named with those that are there', async () => {
  await settle([studio]);
  await expect(studio.api.admit({ machine: 'nobody', confirm: true }, studio.call())).rejects.toThrow(
    'No machine nobody is known here, on any remote. Known: none. Waiting to be admitted: desk, laptop.',
  );
  const itself = { machine: 'studio', confirm: true };
  await expect(studio.api.admit(itself, studio.call())).rejects.toThrow(/is this machine, which another member/);
  await expect(studio.api.revoke(itself, studio.call())).rejects.toThrow(/is this machine: .*git mesh leave/);
});

test('how often an inbox looks at all branches does not go with the number of its senders', async () => {
  await admit(studio, 'laptop');
  await admit(studio, 'desk');
  await settle(mesh.peers);
  await studio.api.checkin({ agent_id: 'boss', confirm: true }, studio.call());
  const list = vi.spyOn(studio.store.refs, 'list');
  const looks = async (by: readonly Peer[]): Promise<number> => {
    for (const peer of by) await peer.send('studio', 'hello');
    await settle(mesh.peers);
    list.mockClear();
    expect((await received(studio, 'boss')).length).toBeGreaterThanOrEqual(by.length);
    return list.mock.calls.length;
  };
  const ofOne = await looks([laptop]);
  expect(await looks([desk])).toBe(ofOne);
});
