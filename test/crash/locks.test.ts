import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type StoreProcess, startStoreProcess } from '@git-mesh/core/testing';
import { expect, onTestFinished, test } from 'vitest';
import { type Machine, mesh, solo } from '../machines.js';
import { isRunning } from '../process-state.js';
import { endWithTest, scratch } from '../scratch.js';
import { until } from '../until.js';
import { sentByCommits, startSender, wholeInbox } from './senders.js';

const onPosix = process.platform !== 'win32';

function storeProcess(task: string, options: object): StoreProcess {
  const started = startStoreProcess(task, options);
  endWithTest(started.process);
  return started;
}

const lockOf = (machine: Machine): string => join(machine.store, 'mesh', 'lock');

/** The pid of the process that the store's lock names; null while it is free or names none. */
function holderPid(machine: Machine): number | null {
  try {
    const held = JSON.parse(readFileSync(lockOf(machine), 'utf8')) as { identity?: { pid?: number } };
    return held.identity?.pid ?? null;
  } catch {
    // Free, or another form of it for the moment: the caller looks again.
    return null;
  }
}

function age(path: string, minutes: number): void {
  const at = Date.now() / 1000 - minutes * 60;
  utimesSync(path, at, at);
}

const worker = async (machine: Machine): Promise<number | undefined> => (await machine.json(['status'])).worker?.pid;

/** All lock files of the store that stand there now, the running worker's left out. */
async function lockFiles(machine: Machine): Promise<string[]> {
  const names = await readdir(machine.store, { recursive: true });
  return names.filter((name) => /(^|[/.])lock$/.test(name) && !name.endsWith('worker.lock')).sort();
}

test('eight processes of 150 turns each are never two under the store lock', async () => {
  const dir = scratch();
  writeFileSync(join(dir, 'counter'), '0');
  mkdirSync(join(dir, 'mesh'));
  const all = Array.from({ length: 8 }, () => storeProcess('count', { dir, times: 150 }));
  for (const each of all) expect(await each.ended).toEqual({ code: 0, signal: null, stderr: '' });
  expect(await readFile(join(dir, 'counter'), 'utf8')).toBe('1200');
  expect(await readdir(join(dir, 'mesh'))).toEqual([]);
}, 180_000);

test('a send that waits for a holder gets through within 5 s of the holder’s kill -9', async () => {
  const machine = await solo();
  const session = await machine.mcp();
  await session.checkin('sink');
  for (let round = 0; round < 3; round++) {
    const holder = storeProcess('hold', { dir: machine.store });
    expect(await holder.line()).toBe('held');
    const waiting = session.send('solo', { payload: { round } });
    await delay(50); // Not a wait for something: the send is to be under way, or to find a holder that is dead.
    const killedAt = performance.now();
    holder.process.kill('SIGKILL');
    await waiting;
    expect(performance.now() - killedAt, `milliseconds to pass the dead holder of round ${round}`).toBeLessThan(5_000);
  }
  expect((await session.call('agent_inbox', { agent_id: 'sink' })).messages).toHaveLength(3);
});

test.skipIf(!onPosix)(
  'a sender that is stopped under the lock is never robbed: others wait, get 423, and it goes on where it was',
  async () => {
    const machine = await solo();
    const session = await machine.mcp();
    await session.checkin('sink');
    const sender = startSender(machine, 'paused', 60);
    const pid = sender.process.pid ?? 0;
    await sender.reported(1);
    // Stopped at any moment, until it was one at which it held the lock.
    await until(
      () => {
        sender.process.kill('SIGSTOP');
        if (holderPid(machine) === pid) return true;
        sender.process.kill('SIGCONT');
        return false;
      },
      { every: 3, what: 'the sender is stopped under the lock' },
    );
    onTestFinished(() => void sender.process.kill('SIGCONT'));
    const held = readFileSync(lockOf(machine), 'utf8');
    const sent = machine.git(['rev-parse', 'refs/heads/mesh/solo']);

    // Both wait for as long as a command waits, at the same time; reads do not wait at all.
    const tool = session.refused('agent_send', { to: 'solo', msg_type: 'note', payload: { robbed: true } });
    const command = machine.refused(['send', 'solo', 'note', '--message', 'robbed']);
    expect((await machine.json(['agents'])).machine).toBe('solo');
    for (const { code, name, message } of [await tool, await command]) {
      expect({ code, name }).toEqual({ code: 423, name: 'locked' });
      expect(message).toContain(`process ${pid} since 20`);
      expect(message).toContain('nothing was stored');
      expect(message).toMatch(/try again.*stopped/);
    }
    expect((await command).exitCode).toBe(5);
    expect(await machine.run(['doctor'])).toMatchObject({ code: 1, stdout: expect.stringContaining(`process ${pid}`) as string }); // prettier-ignore
    expect(readFileSync(lockOf(machine), 'utf8')).toBe(held);
    expect(machine.git(['rev-parse', 'refs/heads/mesh/solo'])).toBe(sent);

    sender.process.kill('SIGCONT');
    const beside = await machine.json(['send', 'solo', 'note', '--message', 'beside']);
    expect(await sender.ended).toEqual({ code: 0, signal: null });
    const ids = [...sender.ids, beside.id].sort();
    expect(ids).toHaveLength(61);
    expect(sentByCommits(machine).sort()).toEqual(ids);
    expect((await wholeInbox(machine, 'sink')).map(({ id }) => id).sort()).toEqual(ids);
    machine.git(['fsck', '--strict']);
    expect(await lockFiles(machine)).toEqual([]);
  },
  120_000,
);

test.skipIf(!onPosix)(
  'a worker that is stopped for longer than its lock lives is replaced, does no harm when it goes on, and one remains',
  async () => {
    const { machines } = await mesh(['studio', 'laptop']);
    const [studio, laptop] = machines;
    await laptop.json(['checkin', 'qa']);
    const one = studio.spawn(['sync', '--watch']);
    const first = await until(() => worker(studio), { what: 'a worker is elected' });
    expect(first).toBe(one.pid);
    const session = await studio.mcp();
    await session.checkin('boss');
    const sent = [(await session.send('laptop', { payload: { when: 'before' } })).id];
    onTestFinished(() => void one.kill('SIGCONT'));
    const stopped = (): boolean => {
      one.kill('SIGSTOP');
      if (holderPid(studio) !== one.pid) return true;
      one.kill('SIGCONT');
      return false;
    };
    await until(stopped, {
      what: 'it is stopped while it does not hold the store, which nobody takes from the living',
    });
    const pushed = (id: string) => async (): Promise<boolean> =>
      (await session.call('agent_sent')).messages.find((message) => message.id === id)?.state === 'pushed';
    await until(async () => (await worker(studio)) === session.pid, { what: 'another takes over' });
    const meanwhile = (await session.send('laptop', { payload: { when: 'meanwhile' } })).id;
    sent.push(meanwhile);
    await until(pushed(meanwhile), { what: 'the new worker pushes' });

    one.kill('SIGCONT');
    // For a moment both may believe to be the worker.
    for (let n = 0; n < 5; n++) {
      sent.push((await session.send('laptop', { payload: { when: 'both', n } })).id);
      await studio.json(['send', 'laptop', 'note', '--from', 'boss']).then(({ id }) => sent.push(id));
    }
    await until(pushed(sent.at(-1) ?? ''), { what: 'all is pushed' });
    expect(one.exitCode).toBeNull();
    for (let n = 0; n < 4; n++) expect(await worker(studio)).toBe(session.pid);
    await laptop.json(['sync']);
    expect((await wholeInbox(laptop, 'qa')).map(({ id }) => id).sort()).toEqual([...sent].sort());
    // The one that was stopped runs for the office again, so that nobody is missing when the other one dies.
    process.kill(session.pid, 'SIGKILL');
    await until(async () => (await worker(studio)) === one.pid, {
      what: 'the one that was stopped is the worker again',
    });
    expect((await studio.json(['status'])).problems).toEqual([]);
    studio.git(['fsck', '--strict']);
  },
);

test('ten workers that start at once leave one, and another when that is killed', async () => {
  const { machines } = await mesh(['studio']);
  const [studio] = machines;
  const watchers = Array.from({ length: 5 }, () => studio.spawn(['sync', '--watch']));
  const sessions = await Promise.all(Array.from({ length: 5 }, () => studio.mcp()));
  await Promise.all(sessions.map((session, n) => session.checkin(`agent-${n}`)));
  const [observer] = sessions;
  if (observer === undefined) throw new Error('no session');
  const elected = async (): Promise<number | undefined> => (await observer.call('agent_mesh_status')).worker?.pid;
  const pids = [...watchers.map(({ pid }) => pid ?? 0), ...sessions.map(({ pid }) => pid)];
  let leader = await until(elected, { what: 'a worker is elected' });
  expect(pids).toContain(leader);
  // All ten run, and each says that the same one is the worker.
  expect(pids.filter((pid) => isRunning(pid))).toHaveLength(10);
  const seen = await Promise.all(sessions.map(async (each) => (await each.call('agent_mesh_status')).worker?.pid));
  expect(new Set(seen)).toEqual(new Set([leader]));
  if (leader !== observer.pid) {
    process.kill(leader, 'SIGKILL');
    const killed = leader;
    leader = await until(async () => ((await elected()) === killed ? undefined : elected()), { within: 5_000, what: 'another takes over' }); // prettier-ignore
    expect(pids).toContain(leader);
  }
  for (let n = 0; n < 10; n++) expect(await elected()).toBe(leader);
});

const foreign = { identity: { pid: 1, started_at: 1, boot: 'b', host: 'h' }, nonce: 'n', since: 1 };

test('a lock file that names nobody is in nobody’s way once it is old, however it came about', async () => {
  const machine = await solo();
  const session = await machine.mcp();
  const whole = JSON.stringify(foreign);
  const left = { empty: '', truncated: whole.slice(0, 30), garbage: '\0\u{fffd}%PDF', json: '{"pid":1}' };
  let stored = 0;
  for (const [what, text] of Object.entries(left)) {
    writeFileSync(lockOf(machine), text);
    age(lockOf(machine), 11);
    await session.send('solo', { payload: { what } });
    stored += 1;
  }
  // Left before the clock was set back by a day: it would be young for ever.
  writeFileSync(lockOf(machine), '');
  age(lockOf(machine), -24 * 60);
  await session.send('solo');
  expect((await session.call('agent_sent')).messages).toHaveLength(stored + 1);
  // A young one may be about to be filled: it is left alone, and doctor says what it is and until when.
  writeFileSync(lockOf(machine), '');
  const { code, stdout } = await machine.run(['doctor']);
  expect([code, stdout]).toEqual([1, expect.stringMatching(/mesh\/lock names no process.*taken over at 20/s)]);
  expect(await readFile(lockOf(machine), 'utf8')).toBe('');
});

test('a lock whose pid another process has now is passed at once', async () => {
  const machine = await solo();
  const session = await machine.mcp();
  const holder = storeProcess('hold', { dir: machine.store });
  await holder.line();
  const held = JSON.parse(await readFile(lockOf(machine), 'utf8')) as { identity: Record<string, unknown> };
  holder.process.kill('SIGKILL');
  await holder.ended;
  // This process is alive, but it is not the one that took the lock.
  const recycled = { ...held, identity: { ...held.identity, pid: process.pid }, nonce: 'recycled' };
  await writeFile(lockOf(machine), JSON.stringify(recycled));
  const started = performance.now();
  await session.send('solo');
  expect(performance.now() - started).toBeLessThan(5_000);
});

test('locks that a killed git left two hours ago are in nobody’s way, and are gone after the next exchange', async () => {
  const { machines } = await mesh(['studio', 'laptop']);
  const [studio, laptop] = machines;
  await laptop.json(['checkin', 'qa']);
  await laptop.json(['sync']);
  await studio.json(['sync']);
  studio.git(['pack-refs', '--all']);
  const refs = studio.git(['for-each-ref', '--format=%(refname)']).split('\n');
  expect(refs).toContain('refs/heads/mesh/laptop');
  for (const name of [...refs, 'packed-refs', 'index', 'HEAD', 'config', 'shallow']) {
    const path = join(studio.store, `${name}.lock`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, '');
    age(path, 120);
  }
  const { id } = await studio.json(['send', 'laptop', 'note']);
  const back = await laptop.json(['send', 'studio', 'note']);
  expect(await studio.json(['sync'])).toMatchObject({ state: 'ok', queued: 0 });
  await laptop.json(['sync']);
  await studio.json(['sync']);
  expect((await wholeInbox(laptop, 'qa')).map((message) => message.id)).toEqual([id]);
  expect(studio.git(['log', '--format=%b', 'refs/heads/mesh/laptop'])).toContain(back.id);
  expect(await lockFiles(studio)).toEqual([]);
  expect(await studio.json(['doctor'])).toMatchObject({ ok: true });
  // The person's own git works in the store again.
  studio.git(['config', 'core.logAllRefUpdates', 'false']);
});
