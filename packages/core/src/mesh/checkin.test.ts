import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { presencePath } from '../domain/layout.js';
import { commitOnBranch } from '../store/commit.js';
import { housekeeping } from './housekeeping.js';
import { agentKey, parseAgentId, toIso } from '../domain/ids.js';
import { ownIdentity } from '../store/identity.js';
import { meshForEach } from '../testing/mesh-for-each.js';

const { mesh, studio, laptop } = meshForEach('studio', 'laptop');

const minutes = (n: number): number => n * 60_000;
const note = (agent: string | undefined, extra: object = {}): object => ({
  to: 'studio',
  msg_type: 'note',
  ...(agent === undefined ? {} : { to_agent: agent }),
  ...extra,
});
const sendTo = async (agent?: string, extra: object = {}): Promise<string> => {
  await laptop.receive(studio);
  const { id } = await laptop.api.send(note(agent, extra), laptop.call());
  await studio.receive(laptop);
  return id;
};

test('a first check-in announces all it was given, in one commit', async () => {
  const done = await studio.checkin('Boss', { role: 'builder', repo: 'shop', caps: ['ts'], status: 'ready' });
  expect(done).toEqual({
    preview: false,
    agent_id: 'Boss',
    machine: 'studio',
    role: 'builder',
    repo: 'shop',
    caps: ['ts'],
    status: 'ready',
    status_since: '2026-12-02T10:00:00.000Z',
    status_age_s: 0,
    checked_in_at: '2026-12-02T10:00:00.000Z',
    last_activity_at: '2026-12-02T10:00:00.000Z',
    expires_at: '2026-12-02T11:00:00.000Z',
    ttl_seconds: 3600,
    alive: true,
    renewed: false,
    herdr_wake: 'off',
    freezes: [],
    missed: { count: 0, ids: [] },
    sync: { state: 'none', last_ok_at: null, queued: 0, error: null },
  });
  expect(await studio.subjects()).toEqual(['join studio', 'checkin Boss (builder) in shop: ready']);
  expect(await studio.git('log', '-1', '--format=%an <%ae>|%cn <%ce>', studio.store.branch)).toBe(
    'Boss <Boss@studio.mesh.invalid>|studio <studio@mesh.invalid>',
  );
});

test('a repeat check-in keeps what is left out, and commits only what changed', async () => {
  await studio.checkin('boss', { role: 'builder', repo: 'shop', caps: ['a'], status: 'one', ttl_seconds: 600 });
  mesh.clock.advance(minutes(2));
  const same = await studio.checkin('boss');
  expect(same).toMatchObject({ renewed: true, role: 'builder', repo: 'shop', caps: ['a'], status: 'one' });
  expect(same).toMatchObject({ ttl_seconds: 600, status_since: '2026-12-02T10:00:00.000Z', status_age_s: 120 });
  expect(same.expires_at).toBe('2026-12-02T10:12:00.000Z');
  expect((await studio.subjects()).length).toBe(2);
  const sameStatus = await studio.checkin('boss', { status: 'one', repo: 'site' });
  expect(sameStatus).toMatchObject({ status_since: '2026-12-02T10:00:00.000Z', repo: 'site', role: 'builder' });
  const other = await studio.checkin('BOSS', { status: 'two' });
  expect(other).toMatchObject({ agent_id: 'boss', status_since: '2026-12-02T10:02:00.000Z', status_age_s: 0 });
  expect(other.checked_in_at).toBe('2026-12-02T10:00:00.000Z');
  expect((await studio.subjects()).slice(1).map((line) => line.split(' ')[0])).toEqual(['checkin', 'renew', 'status']);
});

test('empty texts clear what was said', async () => {
  await studio.checkin('boss', { role: 'builder', repo: 'shop', caps: ['a'], status: 'one' });
  const cleared = await studio.checkin('boss', { role: '', repo: ' ', caps: [], status: '' });
  expect(cleared).toMatchObject({ role: null, repo: null, caps: [], status: null, status_since: null });
  expect(cleared.status_age_s).toBeNull();
});

test('a check-in after expiry starts a session of its own with nothing kept', async () => {
  await studio.checkin('boss', { role: 'builder', status: 'one', ttl_seconds: 60 });
  mesh.clock.advance(60_000);
  const done = await studio.checkin('boss');
  expect(done).toMatchObject({ renewed: false, role: null, status: null, ttl_seconds: 3600 });
  expect(done.checked_in_at).toBe('2026-12-02T10:01:00.000Z');
});

test('the last moment before expiry still extends the session', async () => {
  await studio.checkin('boss', { role: 'builder', ttl_seconds: 60 });
  mesh.clock.advance(59_999);
  expect(await studio.checkin('boss')).toMatchObject({ renewed: true, role: 'builder' });
});

test('a preview changes nothing: no commit, no activity, no file', async () => {
  await studio.checkin('boss', { ttl_seconds: 60 });
  const before = await studio.tip();
  const files = await readdir(join(studio.store.dir, 'mesh'), { recursive: true });
  mesh.clock.advance(10_000);
  const call = studio.call();
  const preview = await studio.api.checkin({ agent_id: 'boss', status: 'x' }, call);
  const fresh = await studio.api.checkin({ agent_id: 'other', role: 'ping' }, call);
  expect(preview).toMatchObject({ preview: true, record: { status: 'x', expires_at: '2026-12-02T10:01:10.000Z' } });
  expect(fresh).toMatchObject({ preview: true, record: { agent_id: 'other', ttl_seconds: 900 } });
  expect(await studio.api.checkout({ agent_id: 'boss' }, call)).toMatchObject({ preview: true, agent_id: 'boss' });
  expect(await studio.tip()).toBe(before);
  expect(await readdir(join(studio.store.dir, 'mesh'), { recursive: true })).toEqual(files);
  expect(call.connection.agents.size).toBe(0);
  expect(await studio.store.local.lastActivity(agentKey(parseAgentId('boss')))).toBe(mesh.clock.now() - 10_000);
});

test('after a checkout, missed names exactly what arrived since, has not expired and was not read', async () => {
  await studio.checkin('boss');
  await studio.checkin('other');
  await sendTo('boss');
  mesh.clock.advance(1000);
  await studio.api.checkout({ agent_id: 'boss', confirm: true }, studio.call());
  const all = await sendTo();
  await sendTo('other');
  await sendTo(undefined, { ttl_seconds: 60 });
  await laptop.api.send({ to: '*', msg_type: 'note' }, laptop.call());
  await studio.receive(laptop);
  const broadcast = (await studio.store.journal.view()).messages.at(-1);
  mesh.clock.advance(minutes(2));
  const again = await studio.checkin('boss');
  expect(again.missed).toEqual({ count: 2, ids: [all, broadcast?.id] });
  expect((await studio.api.inbox({ agent_id: 'boss' }, studio.call())).messages).toEqual([]);
  await studio.api.ack({ agent_id: 'boss', message_ids: [broadcast?.n], confirm: true }, studio.call());
  expect((await studio.checkin('boss')).missed).toEqual({ count: 1, ids: [all] });
});

test('after expiry, missed counts from the moment of expiry, not from the last call', async () => {
  await studio.checkin('boss', { ttl_seconds: 60 });
  mesh.clock.advance(30_000);
  await sendTo();
  mesh.clock.advance(40_000);
  const late = await sendTo();
  mesh.clock.advance(1000);
  expect((await studio.checkin('boss')).missed).toEqual({ count: 1, ids: [late] });
});

test('missed is still exact once the expired record was pruned', async () => {
  await studio.checkin('boss', { ttl_seconds: 60 });
  mesh.clock.advance(30_000);
  await sendTo();
  mesh.clock.advance(minutes(10));
  const late = await sendTo();
  mesh.clock.advance(minutes(25 * 60));
  await housekeeping(studio.ctx);
  expect(await studio.git('ls-tree', '--name-only', `${studio.store.branch}:`)).toBe('machine.yaml');
  expect((await studio.checkin('boss')).missed).toEqual({ count: 1, ids: [late] });
});

test('what its sender took out of the tip is not missed', async () => {
  await studio.checkin('boss');
  await studio.api.checkout({ agent_id: 'boss', confirm: true }, studio.call());
  await sendTo();
  const entry = (await laptop.store.journal.view()).messages.at(-1);
  await laptop.store.withLock(() =>
    commitOnBranch(laptop.store, {
      edits: new Map([[entry?.path ?? '', null]]),
      event: { event: 'prune', agent: null, messages: [], read: [], summary: 'x' },
      at: mesh.clock.now(),
    }),
  );
  await studio.receive(laptop);
  expect((await studio.checkin('boss')).missed).toEqual({ count: 0, ids: [] });
});

test('a crash between the session and its commit leaves the agent not checked in, and nothing missed is lost', async () => {
  await studio.checkin('boss');
  await studio.api.checkout({ agent_id: 'boss', confirm: true }, studio.call());
  const late = await sendTo();
  const key = agentKey(parseAgentId('boss'));
  const before = await studio.store.local.session(key);
  await studio.store.withLock(() =>
    studio.store.local.putSession({
      agent: parseAgentId('boss'),
      checked_in_at: toIso(mesh.clock.now() + 5),
      fence: 1,
      previous_end: before?.ended?.n ?? null,
      herdr_pane: null,
      owner: null,
    }),
  );
  const other = await studio.reopened();
  await expect(other.api.inbox({ agent_id: 'boss' }, other.call())).rejects.toMatchObject({
    errorName: 'not_checked_in',
  });
  expect((await other.api.agents({ include_stale: true }, other.call())).agents).toEqual([]);
  const done = await other.checkin('boss');
  expect(done).toMatchObject({ renewed: false, missed: { count: 1, ids: [late] } });
});

test('a crash in the very first check-in leaves nothing to have missed', async () => {
  await sendTo();
  await studio.store.withLock(() =>
    studio.store.local.putSession({
      agent: parseAgentId('boss'),
      checked_in_at: toIso(mesh.clock.now()),
      fence: 0,
      previous_end: null,
      herdr_pane: null,
      owner: null,
    }),
  );
  expect(await studio.checkin('boss')).toMatchObject({ renewed: false, missed: { count: 0, ids: [] } });
});

test('a crash in a checkout, after its commit, does not bring back what the session had seen', async () => {
  await studio.checkin('boss');
  await sendTo('boss');
  mesh.clock.advance(1000);
  await studio.api.inbox({ agent_id: 'boss' }, studio.call());
  await studio.store.withLock(() =>
    commitOnBranch(studio.store, {
      edits: new Map([[presencePath(agentKey(parseAgentId('boss'))), null]]),
      event: { event: 'checkout', agent: parseAgentId('boss'), messages: [], read: [], summary: 'boss' },
      at: mesh.clock.now(),
    }),
  );
  mesh.clock.advance(1000);
  const late = await sendTo();
  expect((await studio.checkin('boss')).missed).toEqual({ count: 1, ids: [late] });
});

test('another live process that uses the same agent is named, a dead one and oneself are not', async () => {
  const mine = await ownIdentity();
  await studio.checkin('boss', {}, studio.call({ owner: mine }));
  expect(await studio.checkin('boss', {}, studio.call({ owner: mine }))).not.toHaveProperty('also_checked_in');
  const second = await studio.checkin('boss', {}, studio.call({ owner: { ...mine, pid: 999_999_999 } }));
  expect(second.also_checked_in).toEqual([{ pid: mine.pid, since: '2026-12-02T10:00:00.000Z' }]);
  const third = await studio.checkin('boss', {}, studio.call({ owner: mine }));
  expect(third).not.toHaveProperty('also_checked_in');
});

test('a pane is kept by this session, and by no record that others read', async () => {
  expect((await studio.checkin('boss', { herdr_pane: 'p1' })).herdr_wake).toBe('registered');
  expect((await studio.checkin('boss', { status: 'x' })).herdr_wake).toBe('registered');
  expect(await studio.git('show', `${studio.store.branch}:presence/boss.yaml`)).not.toContain('p1');
  await studio.api.checkout({ agent_id: 'boss', confirm: true }, studio.call());
  expect((await studio.checkin('boss')).herdr_wake).toBe('off');
});

test('a checkout removes the record at once and closes the inbox', async () => {
  const call = studio.call();
  await studio.checkin('boss', {}, call);
  expect(call.connection.agents).toEqual(new Set(['boss']));
  expect(await studio.api.checkout({ agent_id: 'Boss', confirm: true }, call)).toEqual({
    preview: false,
    agent_id: 'boss',
    machine: 'studio',
  });
  expect(call.connection.agents).toEqual(new Set());
  expect((await studio.api.agents({ include_stale: true }, call)).agents).toEqual([]);
  for (const confirm of [true, false]) {
    await expect(studio.api.checkout({ agent_id: 'boss', confirm }, call)).rejects.toMatchObject({
      errorName: 'not_checked_in',
      code: 409,
    });
  }
});
