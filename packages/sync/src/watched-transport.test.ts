import { MeshError } from '@git-mesh/core';
import { expect, it } from 'vitest';
import type { Exchange, Transport } from './transport/port.js';
import { watchedTransport, withHeartbeat } from './watched-transport.js';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A remote that sends `chunks` of 1 MiB, each after `everyMs`, and then nothing or its end. */
function remote(options: { chunks: number; everyMs: number; ends: boolean }): Transport {
  return {
    watchable: null,
    open: (_service, { signal }) => {
      const silence = new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reject(signal.reason instanceof MeshError ? signal.reason : new Error('aborted without a reason'));
        });
      });
      silence.catch(() => undefined);
      const exchange: Exchange = {
        advertised: { refs: new Map(), capabilities: new Set(), head: null },
        async *post() {
          for (let sent = 0; sent < options.chunks; sent++) {
            await Promise.race([pause(options.everyMs), silence]);
            yield new Uint8Array(1024 * 1024);
          }
          if (!options.ends) await silence;
        },
        close: () => Promise.resolve(),
      };
      return Promise.resolve(exchange);
    },
  };
}

async function received(transport: Transport, workMs = 0): Promise<number> {
  const exchange = await transport.open('git-upload-pack', { signal: new AbortController().signal });
  let bytes = 0;
  for await (const chunk of exchange.post(new Uint8Array())) {
    bytes += chunk.length;
    await pause(workMs);
  }
  await exchange.close();
  return bytes / 1024 / 1024;
}

it('lets a download go on for as long as something comes, however long it is worked on', async () => {
  const lines: string[] = [];
  const watching = { idleMs: 250, onProgress: (line: string) => void lines.push(line) };
  const slow = watchedTransport(remote({ chunks: 8, everyMs: 100, ends: true }), watching);
  expect(await received(slow)).toBe(8);
  expect(lines.at(-1)).toBe('received 8.0 MiB, checking it');
  expect(lines.length).toBeGreaterThan(1);
  expect(await received(watchedTransport(remote({ chunks: 2, everyMs: 1, ends: true }), watching), 400)).toBe(2);
});

it('gives up a remote that falls silent, and names that', async () => {
  const silent = watchedTransport(remote({ chunks: 1, everyMs: 1, ends: false }), { idleMs: 100 });
  await expect(received(silent)).rejects.toMatchObject({
    errorName: 'deadline',
    message: expect.stringContaining('nothing came') as string,
  });
});

it('ends with the signal of who opened it', async () => {
  const controller = new AbortController();
  const transport = watchedTransport(remote({ chunks: 0, everyMs: 1, ends: false }), { idleMs: 60_000 });
  const exchange = await transport.open('git-upload-pack', { signal: controller.signal });
  const first = exchange.post(new Uint8Array())[Symbol.asyncIterator]().next();
  controller.abort(new MeshError('deadline', 'time is over'));
  await expect(first).rejects.toThrow('time is over');
});

it('gives the result of what it watches, and its failure', async () => {
  const lines: string[] = [];
  const tell = (line: string): void => void lines.push(line);
  expect(await withHeartbeat(tell, 'x', () => Promise.resolve(7))).toBe(7);
  await expect(withHeartbeat(tell, 'x', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(lines).toEqual([]);
});
