import { expect, test } from 'vitest';
import type { Environment } from '../environment.js';
import { Machine } from '../machines.js';
import type { McpSession } from '../mcp-session.js';
import { scratch } from '../scratch.js';
import { preload } from '../soak/preload.js';
import { bareRemote } from '../stock-git.js';
import { until } from '../until.js';

const minutes = 60_000;

function shifted(ms: number): Environment {
  return { ...preload('shifted-clock'), SOAK_SKEW_MS: String(ms) };
}

const alive = async (session: McpSession): Promise<string[]> =>
  (await session.call('agents_list')).agents.map((one) => `${one.machine}/${one.agent_id}`).sort();
const freezes = async (session: McpSession): Promise<number> => (await session.call('agents_list')).freezes.length;
const skew = async (session: McpSession): Promise<string> =>
  (await session.call('agent_mesh_status')).problems
    .filter(({ kind }) => kind === 'clock_skew')
    .map(({ machine, message }) => `${machine ?? ''}: ${message}`)
    .join();

test.each([
  [-10, 'behind', 'ahead of'],
  [10, 'ahead of', 'behind'],
])('a machine whose clock is %i minutes off works with the others, and is named', async (off, there, here) => {
  const root = scratch();
  const remote = bareRemote(root);
  const right = new Machine(root, 'studio');
  const wrong = new Machine(root, 'laptop', shifted(off * minutes));
  await right.json(['init', '--remote', remote, '--machine', 'studio']);
  await wrong.json(['join', remote, '--machine', 'laptop']);
  const [studio, laptop] = await Promise.all([right.mcp(), wrong.mcp()]);
  await Promise.all([studio.checkin('boss', { ttl_seconds: 60 }), laptop.checkin('qa', { ttl_seconds: 60 })]);

  // To a machine anybody may send, and whoever is behind is proven to be by what it reads.
  const freeze = { msg_type: 'freeze', payload: { repo: 'shop' }, ttl_seconds: 60 };
  await studio.send('laptop', { ...freeze, from_agent: 'boss' });
  await laptop.send('studio', { ...freeze, from_agent: 'qa' });
  for (const session of [studio, laptop]) {
    await until(async () => (await alive(session)).join() === 'laptop/qa,studio/boss', { what: 'both are alive' });
    await until(async () => (await freezes(session)) === 1, { what: 'the freeze holds' });
  }

  const note = await laptop.send('studio', { from_agent: 'qa', to_agent: 'boss', ttl_seconds: 60 });
  const arrived = await until(
    async () => (await studio.call('agent_inbox', { agent_id: 'boss' })).messages.find(({ id }) => id === note.id),
    { what: 'the note is in the inbox' },
  );
  await studio.ack('boss', [arrived.message_id]);
  const sent = async (): Promise<string | undefined> =>
    (await laptop.call('agent_sent')).messages.find(({ id }) => id === note.id)?.state;
  await until(async () => (await sent()) === 'acked', { what: 'the acknowledgement came back' });

  await laptop.send('*', { msg_type: 'freeze-clear', from_agent: 'qa', payload: { repo: 'shop' } });
  for (const session of [studio, laptop]) {
    await until(async () => (await freezes(session)) === 0, { what: 'the clear ends both freezes' });
  }
  expect(await skew(studio)).toMatch(`laptop: the clock of laptop is ${there} this machine’s`);
  expect(await skew(laptop)).toMatch(`studio: the clock of studio is ${here} this machine’s`);
});
