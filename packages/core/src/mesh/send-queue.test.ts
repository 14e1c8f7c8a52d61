import { describe, expect, test } from 'vitest';
import { silentLogger } from '../logger.js';
import { nodeFs } from '../store/node-fs.js';
import { Store } from '../store/store.js';
import { TestMachine, faultyFs } from '../testing/index.js';
import type { Fault, FsStep } from '../testing/faulty-fs.js';
import { meshForEach } from '../testing/mesh-for-each.js';

const { studio } = meshForEach('studio');
const never: Fault = { at: Number.POSITIVE_INFINITY, when: 'before', what: 'EIO' };

async function onDisk(fault: Fault, onStep?: (kind: FsStep) => void): Promise<TestMachine> {
  const deps = { clock: studio.clock, random: studio.ctx.random, logger: silentLogger };
  const fs = faultyFs(nodeFs, fault, onStep);
  return new TestMachine(await Store.open(studio.store.dir, { ...deps, fs }), studio.clock);
}

const note = (n: number, extra: object = {}): object => ({ to: 'studio', msg_type: 'note', payload: { n }, ...extra });

async function storedNumbers(): Promise<unknown[]> {
  const { messages } = await studio.api.sent({ limit: 100 }, studio.call());
  return messages.map(({ payload }) => payload['n']).reverse();
}

describe('sends that are made at once', () => {
  test('are a commit each, in one line, with numbers in its order that the commits name', async () => {
    const machine = await onDisk(never);
    const before = Number(await studio.git('rev-list', '--count', 'refs/heads/mesh/studio'));
    const results = await Promise.all(Array.from({ length: 40 }, (_, n) => machine.api.send(note(n), machine.call())));
    const numbers = results.map(({ message_id: id }) => id).sort((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
    // Which of them came first is nobody's to say, but each has its own number.
    const { messages } = await studio.api.sent({ limit: 100 }, studio.call());
    const stored = new Map(messages.map(({ message_id: id, payload }) => [id, payload['n']]));
    expect(results.map(({ message_id: id }) => stored.get(id))).toEqual(results.map((_, n) => n));
    const trailers = '%(trailers:key=Mesh-Journal,valueonly,separator=)';
    const log = await studio.git('log', '--reverse', `--format=${trailers}`, '-40', 'refs/heads/mesh/studio');
    expect(log.trim().split('\n')).toEqual(numbers.map(String));
    expect(Number(await studio.git('rev-list', '--count', 'refs/heads/mesh/studio'))).toBe(before + 40);
    expect(await studio.git('fsck', '--strict', '--no-dangling')).not.toMatch(/error|missing/);
  });

  test('wait for the disk together', async () => {
    const syncs = { alone: 0, together: 0 };
    let counted: keyof typeof syncs = 'alone';
    const machine = await onDisk({ ...never, steps: ['sync', 'syncFolder'] }, () => (syncs[counted] += 1));
    await machine.api.send(note(0), machine.call());
    counted = 'together';
    await Promise.all(Array.from({ length: 20 }, (_, n) => machine.api.send(note(n + 1), machine.call())));
    expect(syncs.alone).toBeGreaterThan(0);
    // The first has the lock before the others ask for it, or shares it with them.
    expect(syncs.together).toBeLessThanOrEqual(2 * syncs.alone);
  });

  test('fail one by one where one is wrong', async () => {
    const machine = await onDisk(never);
    const sends = [note(0), note(1, { in_reply_to: 4_711 }), note(2)];
    const results = await Promise.allSettled(sends.map((input) => machine.api.send(input, machine.call())));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(results[1]).toMatchObject({ reason: { errorName: 'unknown_message' } });
    expect((await storedNumbers()).sort()).toEqual([0, 2]);
  });

  test('send once what two of them send under one key', async () => {
    const machine = await onDisk(never);
    const same = note(0, { key: 'release-2.1' });
    const results = await Promise.all([same, same].map((input) => machine.api.send(input, machine.call())));
    expect(new Set(results.map(({ id }) => id)).size).toBe(1);
    expect(results.filter(({ duplicate }) => duplicate === true)).toHaveLength(1);
    expect(await storedNumbers()).toEqual([0]);
  });

  test.each(Array.from({ length: 12 }, (_, i) => i + 1))(
    'on a disk that fails at step %i are each refused and not stored, or stored and not refused',
    async (at) => {
      const machine = await onDisk({
        steps: ['write', 'sync', 'syncFolder', 'rename'],
        at,
        when: 'before',
        what: 'EIO',
        lasting: true,
      });
      const inputs = Array.from({ length: 5 }, (_, n) => note(n));
      const results = await Promise.allSettled(inputs.map((input) => machine.api.send(input, machine.call())));
      // The next one to write journals what a disk kept from the journal.
      await studio.checkin('boss');
      const accepted = results.flatMap(({ status }, n) => (status === 'fulfilled' ? [n] : []));
      const stored = await storedNumbers();
      const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
      for (const reason of refused) expect(reason).toMatchObject({ code: 503 });
      expect([...stored].sort()).toEqual(accepted);
    },
  );
});
