import { silentLogger } from '@git-mesh/core';
import { expect, test } from 'vitest';
import { stubSetup } from '../testing/stub-setup.js';
import { runMcpHttp } from './run-mcp-http.js';

/** The server, whose process is played by the test. */
function start(env: Record<string, string> = {}) {
  const played = { signal: (_name: string): void => undefined, exitWithin: [] as number[], opened: 0, said: '' };
  const done = runMcpHttp({
    dir: '/nowhere',
    env,
    logger: silentLogger,
    version: '1',
    hostname: 'here',
    setup: stubSetup(),
    port: 0,
    openMesh: () => {
      played.opened += 1;
      return Promise.reject(new Error('not opened'));
    },
    announce: (text) => {
      played.said += text;
      return Promise.resolve();
    },
    host: {
      platform: 'linux',
      claimStdout: (stream) => stream,
      onSignal: (listener) => {
        played.signal = listener;
        return () => undefined;
      },
      exitWithin: (ms) => {
        played.exitWithin.push(ms);
      },
    },
  });
  return { played, done };
}

const statusOf = async (said: string, token: string): Promise<number> => {
  const [url = ''] = /http:\S+/.exec(said) ?? [];
  const response = await fetch(url, { method: 'DELETE', headers: { authorization: `Bearer ${token}` } });
  return response.status;
};

test('it says where it is and a token that is new each time, and ends when it is told to', async () => {
  const tokens: string[] = [];
  for (let n = 0; n < 2; n++) {
    const { played, done } = start();
    await expect.poll(() => played.said, { timeout: 20_000 }).toContain('Bearer');
    const [, token = ''] = /Bearer (\S+)/.exec(played.said) ?? [];
    tokens.push(token);
    // Through the gate: what is missing is a session.
    expect([await statusOf(played.said, token), await statusOf(played.said, `${token}x`)]).toEqual([400, 401]);
    played.signal('SIGTERM');
    await done;
    expect(played).toMatchObject({ opened: 0, exitWithin: [2000] });
  }
  expect(new Set(tokens).size).toBe(2);
  expect(tokens[0]?.length).toBeGreaterThanOrEqual(32);
});

test('a token that was given is taken and not shown', async () => {
  const token = 'given-by-a-person-0123';
  const { played, done } = start({ GIT_MESH_HTTP_TOKEN: token });
  await expect.poll(() => played.said).toContain('GIT_MESH_HTTP_TOKEN');
  expect(await statusOf(played.said, token)).toBe(400);
  expect(played.said).not.toContain(token);
  played.signal('SIGINT');
  await done;
});

test.each(['hunter2', 'with spaces in it all over', 'é'.repeat(20)])(
  'the token %j is too easy or cannot be sent',
  async (token) => {
    const { played, done } = start({ GIT_MESH_HTTP_TOKEN: token });
    const error = (await done.catch((thrown: unknown) => thrown)) as { errorName: string; message: string };
    expect(error.errorName).toBe('invalid_argument');
    expect(error.message).not.toContain(token);
    expect(played.said).toBe('');
  },
);
