import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Machine } from '../machines.js';
import { scratch } from '../scratch.js';
import { bareRemote, stockGit } from '../stock-git.js';

/** What stock git says of a bundle in a repository. @throws Error where it does not verify. */
const verify = (repository: string, file: string): string =>
  stockGit(['--git-dir', repository, 'bundle', 'verify', file]);

const sound = (...machines: Machine[]): void => {
  for (const machine of machines) machine.git(['fsck', '--strict', '--full']);
};

test('two machines with nothing between them but a file exchange a freeze, its receipt and its ack', async () => {
  const root = scratch();
  const [studio, lab] = [new Machine(root, 'studio'), new Machine(root, 'lab')];
  const nowhere = bareRemote(root, 'nowhere.git');
  const stick = (name: string): string => join(root, name);

  await studio.json(['init', '--machine', 'studio']);
  await studio.json(['checkin', 'boss']);
  const whole = await studio.json(['export', stick('0.bundle'), '--since-last', 'lab']);
  expect(whole).toMatchObject({ file: stick('0.bundle'), branches: 2, left_out: [] });
  expect(verify(nowhere, stick('0.bundle'))).toMatch(/complete history/);
  const joined = await lab.json(['join', stick('0.bundle'), '--machine', 'lab']);
  expect(joined).toMatchObject({ machine: 'lab', remotes: [], writable: false });
  await lab.json(['checkin', 'qa']);
  await lab.json(['export', stick('1.bundle'), '--since-last', 'studio']);
  expect(await studio.json(['import', stick('1.bundle')])).toMatchObject({ branches: 1, rejected: [] });

  // There: the freeze. Everything from here on is incremental.
  const payload = JSON.stringify({ repo: 'web', reason: 'release' });
  const freeze = await studio.json(['send', 'lab', 'freeze', '--from', 'boss', '--payload', payload]);
  await studio.json(['export', stick('2.bundle'), '--since-last', 'lab']);
  expect(() => verify(nowhere, stick('2.bundle'))).toThrow(/lacks these prerequisite/);
  verify(lab.store, stick('2.bundle'));
  expect((await lab.run(['guard', '--repo', 'web'])).code).toBe(0);
  expect(await lab.json(['import', stick('2.bundle')])).toMatchObject({ branches: 1, arrived: 1, rejected: [] });
  expect((await lab.run(['guard', '--repo', 'web'])).code).toBe(20);
  const [message] = (await lab.json(['inbox', 'qa'])).messages;
  expect(message).toMatchObject({ id: freeze.id, msg_type: 'freeze', from: { machine: 'studio', agent: 'boss' } });

  // And back: the receipt, then the ack.
  const state = async (): Promise<string | undefined> =>
    (await studio.json(['sent', '--as', 'boss'])).messages[0]?.state;
  expect(await state()).toBe('queued');
  await lab.json(['export', stick('3.bundle'), '--since-last', 'studio']);
  await studio.json(['import', stick('3.bundle')]);
  expect(await state()).toBe('delivered');
  await lab.json(['ack', 'qa', '--all']);
  await lab.json(['export', stick('4.bundle'), '--since-last', 'studio']);
  verify(studio.store, stick('4.bundle'));
  await studio.json(['import', stick('4.bundle')]);
  expect((await studio.json(['sent', '--as', 'boss'])).messages).toMatchObject([
    { state: 'acked', pushed_at: null, delivered_to: [{ machine: 'lab' }], acks: [{ machine: 'lab', agent: 'qa' }] },
  ]);
  expect((await lab.json(['inbox', 'qa'])).messages).toEqual([]);
  expect(await studio.json(['doctor'])).toEqual({ ok: true, problems: [] });
  expect(await lab.json(['doctor'])).toEqual({ ok: true, problems: [] });
  sound(studio, lab);
});

test('a machine that belongs to no group carries messages between two that never meet', async () => {
  const root = scratch();
  const [north, courier, south] = [
    new Machine(root, 'north'),
    new Machine(root, 'courier'),
    new Machine(root, 'south'),
  ];
  const file = join(root, 'x.bundle');
  const carry = async (from: Machine, to: Machine): Promise<number> => {
    await from.json(['export', file, '--since-last', to.handle]);
    return (await to.json(['import', file])).arrived;
  };
  await north.json(['init', '--machine', 'north']);
  for (const machine of [courier, south]) {
    await north.json(['export', file, '--since-last', machine.handle]);
    await machine.json(['join', file, '--machine', machine.handle]);
  }
  await south.json(['checkin', 'qa']);
  await carry(south, courier);
  await carry(courier, north);
  await north.json(['send', 'south', 'note', '--to-agent', 'qa', '--message', 'hello']);
  expect(await carry(north, courier)).toBe(0);
  expect(await carry(courier, south)).toBe(1);
  await south.json(['ack', 'qa', '--all']);
  await carry(south, courier);
  await carry(courier, north);
  expect((await north.json(['sent'])).messages).toMatchObject([
    { state: 'acked', acks: [{ machine: 'south', agent: 'qa' }] },
  ]);
  sound(north, courier, south);
});

test('bundles out of order are refused with what is missing, a whole one makes up for a lost one, and a pipe will do', async () => {
  const root = scratch();
  const [studio, lab] = [new Machine(root, 'studio'), new Machine(root, 'lab')];
  const file = (name: string): string => join(root, name);
  await studio.json(['init', '--machine', 'studio']);
  await studio.json(['export', file('0'), '--since-last', 'lab']);
  await lab.json(['join', file('0'), '--machine', 'lab']);
  await lab.json(['checkin', 'qa']);
  for (const name of ['1', '2', '3']) {
    await studio.json(['send', '*', 'note', '--message', name]);
    await studio.json(['export', file(name), '--since-last', 'lab']);
  }
  const missing = studio.git(['rev-parse', 'refs/heads/mesh/studio~1']);
  expect(await lab.refused(['import', file('3')])).toMatchObject({
    exitCode: 4,
    name: 'bundle_incomplete',
    missing: [{ commit: missing, what: 'refs/heads/mesh/studio' }],
    message: expect.stringContaining('without --since-last') as string,
  });
  expect(await lab.json(['import', file('1')])).toMatchObject({ arrived: 1 });
  // The second is lost.
  await studio.json(['export', file('whole')]);
  const piped = await lab.run(['import', '-', '--json'], { input: readFileSync(file('whole')) });
  expect(JSON.parse(piped.stdout)).toMatchObject({ file: '-', arrived: 2 });
  for (const name of ['3', '2', 'whole'])
    expect(await lab.json(['import', file(name)])).toMatchObject({ arrived: 0, commits: 0 });
  const again = await studio.run(['export', file('4'), '--since-last', 'lab']);
  expect(again).toMatchObject({ code: 0, stdout: 'Nothing new since the last export as lab: no file was written.\n' });
  expect(existsSync(file('4'))).toBe(false);
  expect((await lab.json(['inbox', 'qa'])).messages.map(({ payload }) => payload['message'])).toEqual(['1', '2', '3']);
  expect(await lab.refused(['join', file('3')], { env: { GIT_MESH_DIR: file('other') } })).toMatchObject({
    name: 'bundle_incomplete',
  });
  expect(await lab.refused(['export', '-'])).toMatchObject({ exitCode: 2 });
  sound(lab);
});

test('a resident server hands out what another process imports, at once', async () => {
  const root = scratch();
  const [studio, lab] = [new Machine(root, 'studio'), new Machine(root, 'lab')];
  const file = join(root, 'x.bundle');
  await studio.json(['init', '--machine', 'studio']);
  await studio.json(['export', file]);
  await lab.json(['join', file, '--machine', 'lab']);
  const server = await lab.mcp();
  await server.checkin('qa');
  const waiting = server.call('agent_inbox', { agent_id: 'qa', wait_seconds: 40 });
  await studio.json(['send', '*', 'note', '--message', 'by hand']);
  await studio.json(['export', file]);
  expect(await lab.json(['import', file])).toMatchObject({ arrived: 1 });
  const imported = performance.now();
  expect((await waiting).messages.map(({ payload }) => payload)).toEqual([{ message: 'by hand' }]);
  expect(performance.now() - imported).toBeLessThan(5_000);
});
