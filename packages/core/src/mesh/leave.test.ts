import { expect, test } from 'vitest';
import { meshForEach } from '../testing/mesh-for-each.js';
import { housekeeping } from './housekeeping.js';

const { mesh, studio, laptop } = meshForEach('studio', 'laptop');

const leave = (): Promise<unknown> => laptop.api.leave({ confirm: true }, laptop.call());

test('a preview names the agents that would be checked out, and changes nothing', async () => {
  await laptop.checkin('dev');
  const before = await laptop.tip();
  expect(await laptop.api.leave({}, laptop.call())).toMatchObject({
    preview: true,
    machine: 'laptop',
    agents: ['dev'],
  });
  expect(await laptop.tip()).toBe(before);
});

test('leaving is one commit, after which the store writes nothing and reads on', async () => {
  await laptop.checkin('dev', { ttl_seconds: 60 });
  await studio.checkin('boss');
  await mesh.exchange();
  expect(await leave()).toMatchObject({ preview: false, agents: ['dev'] });
  expect((await laptop.subjects()).at(-1)).toBe('leave laptop');
  expect(await laptop.git('ls-tree', '-r', '--name-only', laptop.store.branch)).not.toContain('presence/');
  const tip = await laptop.tip();
  const refused = { errorName: 'machine_left', code: 409 };
  const call = laptop.call();
  await expect(laptop.api.checkin({ agent_id: 'dev', confirm: true }, call)).rejects.toMatchObject(refused);
  await expect(laptop.api.send({ to: 'studio', msg_type: 'note' }, call)).rejects.toMatchObject(refused);
  await expect(leave()).rejects.toMatchObject(refused);
  await expect(laptop.api.rotateKey({ confirm: true }, call)).rejects.toMatchObject(refused);
  await expect(laptop.api.rotateKey({}, call)).rejects.toMatchObject(refused);
  // What is due by the clock, and what arrives, makes no commit either.
  mesh.clock.advance(30 * 24 * 3_600_000);
  await studio.checkin('boss');
  await studio.api.send({ to: '*', msg_type: 'note', payload: { n: 1 } }, studio.call());
  await laptop.receive(studio);
  await housekeeping(laptop.ctx);
  expect(await laptop.tip()).toBe(tip);
  expect((await laptop.api.agents({}, call)).agents.map(({ agent_id }) => agent_id)).toEqual(['boss']);
  expect((await laptop.api.status()).problems.map(({ kind }) => kind)).toEqual(['machine_left']);
});

test('the others no longer list it or write to it, and say so; its freezes hold', async () => {
  await laptop.checkin('dev');
  const freeze = { to: '*', msg_type: 'freeze', payload: { repo: 'shop' }, from_agent: 'dev' };
  await laptop.api.send(freeze, laptop.call());
  await leave();
  await studio.receive(laptop);
  const call = studio.call();
  const seen = await studio.api.agents({}, call);
  expect(seen.machines.map(({ handle }) => handle)).toEqual(['studio']);
  expect(seen.agents).toEqual([]);
  expect(seen.freezes.map(({ repo }) => repo)).toEqual(['shop']);
  const stale = await studio.api.agents({ include_stale: true }, call);
  expect(stale.machines.find(({ handle }) => handle === 'laptop')?.left_at).toMatch(/^20/);
  await expect(studio.api.send({ to: 'laptop', msg_type: 'note' }, call)).rejects.toMatchObject({
    errorName: 'machine_not_found',
    message: expect.stringMatching(/^Machine laptop left the mesh at .*Known machines: studio\./) as string,
    data: { known_handles: ['studio'] },
  });
});

test('doctor names all that status names, also on a machine that left', async () => {
  await leave();
  const named = (await laptop.api.status()).problems.map(({ kind }) => kind);
  expect(named).toContain('machine_left');
  const { ok, problems } = await laptop.api.doctor();
  expect(problems.map(({ kind }) => kind)).toEqual(expect.arrayContaining(named));
  expect(ok).toBe(false);
});
