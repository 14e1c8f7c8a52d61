import { expect, test } from 'vitest';
import { silentLogger } from '../logger.js';
import { nodeFs } from '../store/node-fs.js';
import { Store } from '../store/store.js';
import { TestMachine, faultyFs } from '../testing/index.js';
import { meshForEach } from '../testing/mesh-for-each.js';

const { studio } = meshForEach('studio');

/** The same store in another process, whose disk fails from the given step of a send on. */
async function sendFailingAt(at: number, text: string): Promise<boolean> {
  const deps = { clock: studio.clock, random: studio.ctx.random, logger: silentLogger };
  const fs = faultyFs(nodeFs, { steps: ['write', 'sync', 'rename'], at, when: 'before', what: 'EIO', lasting: true });
  const machine = new TestMachine(await Store.open(studio.store.dir, { ...deps, fs }), studio.clock);
  try {
    await machine.api.send({ to: 'studio', msg_type: 'note', payload: { text } }, machine.call());
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: 503 });
    return false;
  }
}

test('a send on a disk that fails at any step is refused and not stored, or stored and not refused', async () => {
  const outcomes: string[] = [];
  for (let at = 1; at <= 20; at++) {
    const text = `at step ${at}`;
    const accepted = await sendFailingAt(at, text);
    // The next one to write journals what a disk kept from the journal.
    await studio.checkin('boss', { status: text });
    const { messages } = await studio.api.sent({ limit: 100 }, studio.call());
    const stored = messages.filter(({ payload }) => payload['text'] === text).length;
    outcomes.push(`${accepted ? 'accepted' : 'refused'}, stored ${stored}`);
  }
  expect(new Set(outcomes)).toEqual(new Set(['refused, stored 0', 'accepted, stored 1']));
});
