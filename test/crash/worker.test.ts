import { expect, test } from 'vitest';
import { mesh } from '../machines.js';
import { until } from '../until.js';

test('two servers on one store have one worker, and when it is killed the other takes over within 5 s', async () => {
  const { machines } = await mesh(['studio', 'laptop']);
  const [studio, laptop] = machines;
  const [one, other] = await Promise.all([studio.mcp(), studio.mcp()]);
  await one.checkin('boss');
  await other.checkin('dev');
  await laptop.json(['checkin', 'qa']);
  const worker = async (session: typeof one): Promise<number | undefined> =>
    (await session.call('agent_mesh_status')).worker?.pid;
  const first = await until(() => worker(one), { what: 'a worker is elected' });
  expect([one.pid, other.pid]).toContain(first);
  expect(await worker(other)).toBe(first);
  expect((await studio.json(['status'])).worker).toMatchObject({ state: 'running', pid: first });

  const [killed, survivor] = first === one.pid ? [one, other] : [other, one];
  const survivorPid = survivor.pid;
  process.kill(killed.pid, 'SIGKILL');
  await until(async () => (await worker(survivor)) === survivorPid, { within: 5000, what: 'the other takes over' });
  // It really works: what is sent leaves without any further command.
  await survivor.send('laptop', { payload: { text: 'after the takeover' } });
  await until(async () => (await survivor.call('agent_sent')).messages[0]?.state === 'pushed', {
    what: 'the new worker pushes',
  });
});

test('sync --watch is a worker too, and ends on SIGTERM', async () => {
  const { machines } = await mesh(['studio']);
  const [studio] = machines;
  const watch = studio.spawn(['sync', '--watch']);
  const ended = new Promise<number | null>((resolve) => watch.once('exit', resolve));
  const pid = await until(async () => (await studio.json(['status'])).worker?.pid, { what: 'it is elected' });
  expect(pid).toBe(watch.pid);
  if (process.platform !== 'win32') {
    watch.kill('SIGTERM');
    await ended;
    await until(async () => (await studio.json(['status'])).worker === null, {
      within: 5000,
      what: 'no worker is left',
    });
  }
});
