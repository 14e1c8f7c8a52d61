import { expect, test } from 'vitest';
import { createServer } from '../server.js';
import { silentLogger } from '@git-mesh/core';
import { HttpSessions } from './http-sessions.js';

const hour = 60 * 60_000;

/** Sessions that begin as the transport tells of it, without any HTTP. */
function made() {
  const time = { now: 0 };
  const closed: number[] = [];
  let count = 0;
  const sessions = new HttpSessions({
    now: () => time.now,
    connect: () => {
      const number = (count += 1);
      const server = createServer({
        version: '1',
        tools: [],
        callTool: () => Promise.reject(new Error('no tool')),
        subscribe: () => Promise.resolve(),
        unsubscribe: () => Promise.resolve(),
        complete: () => Promise.reject(new Error('no completion')),
        setLevel: () => Promise.resolve(),
        logger: silentLogger,
      });
      const close = (): Promise<void> => {
        closed.push(number);
        return server.close();
      };
      return { server, endCalls: () => Promise.resolve(), close };
    },
  });
  const begin = async (): Promise<string | null> => {
    const session = await sessions.begin();
    if (session === null) return null;
    const id = `s${count}`;
    sessions.add(id, session);
    return id;
  };
  return { sessions, begin, closed, time };
}

test('a session that nobody used for a day is over, one with an open stream is not', async () => {
  const { sessions, begin, closed, time } = made();
  const [idle, streaming] = [await begin(), await begin()];
  const kept = sessions.get(streaming ?? '');
  if (kept !== undefined) kept.open = 1;
  time.now = 24 * hour + 1;
  sessions.expire();
  expect([sessions.get(idle ?? ''), sessions.get(streaming ?? ''), closed]).toEqual([undefined, kept, [1]]);
  await sessions.close();
  expect([sessions.size, closed]).toEqual([0, [1, 2]]);
});

test('where all places are taken, one whose client closed its stream makes room, then the one that was idle for longest', async () => {
  const { sessions, begin, closed, time } = made();
  for (let n = 1; n <= 64; n++) {
    time.now += 1;
    await begin();
  }
  expect(await begin()).toBeNull();
  const left = sessions.get('s7');
  if (left !== undefined) left.hasListened = true;
  time.now += 31_000;
  expect(await begin()).not.toBeNull();
  expect([sessions.size, closed, await begin()]).toEqual([64, [7], null]);
  time.now += hour;
  expect(await begin()).not.toBeNull();
  expect([sessions.size, closed]).toEqual([64, [7, 1]]);
  await sessions.close();
});
