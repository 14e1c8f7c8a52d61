import { expect, test } from 'vitest';
import { type Machine, mesh, solo } from '../machines.js';

const frozenRepos = async (machine: Machine): Promise<(string | null)[]> =>
  (await machine.json(['agents'])).freezes.map((freeze) => freeze.repo);

test('a freeze holds until a clear names it or its repo', async () => {
  const machine = await solo();
  const session = await machine.mcp();
  await session.checkin('boss');
  const freeze = (repo?: string): Promise<{ id: string }> =>
    session.send('solo', {
      msg_type: 'freeze',
      from_agent: 'boss',
      payload: { reason: 'release', ...(repo === undefined ? {} : { repo }) },
    });
  const shop = await freeze('shop');
  await freeze('site');
  const all = await freeze();
  const list = await session.call('agents_list');
  expect(list.freezes).toHaveLength(3);
  expect(list.freezes).toContainEqual(
    expect.objectContaining({ id: shop.id, machine: 'solo', agent: 'boss', repo: 'shop', reason: 'release' }),
  );
  // Whoever checks in later never gets it as a message, and is told all the same.
  const late = await session.checkin('late');
  expect(late.freezes.map((held) => held.id)).toContain(shop.id);
  expect((await session.call('agent_inbox', { agent_id: 'late' })).messages).toEqual([]);

  await session.send('solo', { msg_type: 'freeze-clear', from_agent: 'boss', in_reply_to: all.id });
  expect((await frozenRepos(machine)).sort()).toEqual(['shop', 'site']);
  await session.send('solo', { msg_type: 'freeze-clear', from_agent: 'boss', payload: { repo: 'site' } });
  expect(await frozenRepos(machine)).toEqual(['shop']);
  // A new freeze of the same repo is not covered by the older clear.
  await freeze('site');
  expect((await frozenRepos(machine)).sort()).toEqual(['shop', 'site']);
});

test('a freeze and its clear hold on the machines they were sent to', async () => {
  const { machines } = await mesh(['studio', 'laptop', 'tower']);
  const [studio, laptop, tower] = machines;
  await studio.json(['checkin', 'boss']);
  const payload = JSON.stringify({ repo: 'shop' });
  await studio.json(['send', 'laptop', 'freeze', '--from', 'boss', '--payload', payload]);
  await studio.json(['sync']);
  await laptop.json(['sync']);
  await tower.json(['sync']);
  expect(await frozenRepos(laptop)).toEqual(['shop']);
  expect(await frozenRepos(tower)).toEqual([]);
  await studio.json(['send', 'laptop', 'freeze-clear', '--from', 'boss', '--payload', payload]);
  await studio.json(['sync']);
  await laptop.json(['sync']);
  expect(await frozenRepos(laptop)).toEqual([]);
});

test('guard exits with 20 while a freeze covers the repo, and with 0 otherwise', async () => {
  const machine = await solo();
  await machine.json(['checkin', 'boss']);
  const guard = async (...args: string[]): Promise<[number | null, unknown]> => {
    const ended = await machine.run(['guard', ...args, '--json']);
    return [ended.code, (JSON.parse(ended.stdout) as { frozen: unknown }).frozen];
  };
  expect(await guard()).toEqual([0, false]);
  await machine.json(['send', 'solo', 'freeze', '--from', 'boss', '--payload', '{"repo":"shop"}']);
  expect(await guard('--repo', 'shop')).toEqual([20, true]);
  expect(await guard('--repo', 'site')).toEqual([0, false]);
  await machine.json(['send', 'solo', 'freeze', '--from', 'boss', '--message', 'everything']);
  expect(await guard('--repo', 'site')).toEqual([20, true]);
});
