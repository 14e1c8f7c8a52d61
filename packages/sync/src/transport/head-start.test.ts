import { expect, test } from 'vitest';
import { headStart } from './head-start.js';
import type { Exchange, Service, Transport } from './port.js';

const { signal } = new AbortController();

/** A transport that notes what is opened and closed, and fails where it is told to. */
function noted(failure?: Error): { transport: Transport; opened: Service[]; closed: number[] } {
  const opened: Service[] = [];
  const closed: number[] = [];
  const exchange = (n: number): Exchange => ({
    advertised: { refs: new Map(), capabilities: new Set(), head: null },
    post: () => {
      throw new Error('nothing is posted here');
    },
    close: () => {
      closed.push(n);
      return Promise.resolve();
    },
  });
  const transport: Transport = {
    watchable: null,
    open: (service) => {
      const n = opened.push(service);
      return failure === undefined ? Promise.resolve(exchange(n)) : Promise.reject(failure);
    },
  };
  return { transport, opened, closed };
}

test('what was begun is what the first who asks gets, and the next one a new one', async () => {
  const { transport, opened, closed } = noted();
  const early = headStart(transport, 'git-receive-pack', { signal });
  expect(opened).toEqual(['git-receive-pack']);
  const fetching = await early.transport.open('git-upload-pack', { signal });
  const first = await early.transport.open('git-receive-pack', { signal });
  expect(opened).toEqual(['git-receive-pack', 'git-upload-pack']);
  await early.transport.open('git-receive-pack', { signal });
  expect(opened.length).toBe(3);
  await first.close();
  await fetching.close();
  await early.end();
  expect(closed).toEqual([1, 2]);
});

test('what nobody asked for is ended, once', async () => {
  const { transport, closed } = noted();
  const early = headStart(transport, 'git-receive-pack', { signal });
  await early.end();
  await early.end();
  expect(closed).toEqual([1]);
});

test('a failure is told to who asks, and to nobody where nobody does', async () => {
  const refused = headStart(noted(new Error('refused')).transport, 'git-receive-pack', { signal });
  await expect(refused.transport.open('git-receive-pack', { signal })).rejects.toThrow('refused');
  await headStart(noted(new Error('refused')).transport, 'git-receive-pack', { signal }).end();
});

test('one that hangs is not waited for where nobody asks', async () => {
  const hangs: Transport = {
    watchable: null,
    open: (_service, options) =>
      new Promise((_resolve, reject) => {
        options.signal.addEventListener('abort', () => {
          reject(new Error('given up'));
        });
      }),
  };
  await headStart(hangs, 'git-receive-pack', { signal }).end();
});
