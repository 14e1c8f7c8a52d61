import { MeshError } from '@git-mesh/core';
import type { Exchange, Transport } from './transport/port.js';

/** A large mesh over a slow line takes its time: what ends it is silence. */
export const idleMs = 25_000;
const tellEveryMs = 500;
const mebibyte = 1024 * 1024;

export interface Watching {
  /** For how long nothing may come in while something is waited for. Git's servers send signs of life every 5 s. */
  idleMs: number;
  onProgress?: ((line: string) => void) | undefined;
}

/**
 * `transport` for a download whose size nobody knows: given up not by how long it takes but by how long nothing comes,
 * and telling a watching person how much has come.
 */
export function watchedTransport(transport: Transport, watching: Watching): Transport {
  return {
    watchable: transport.watchable,
    async open(service, { signal: outer }) {
      const idle = new IdleSignal(watching.idleMs, outer);
      try {
        const exchange = await idle.during(() => transport.open(service, { signal: idle.signal }));
        return watched(exchange, idle, watching.onProgress);
      } catch (error) {
        idle.end();
        throw error;
      }
    },
  };
}

/** Fires when `touch` was not called for `ms` within `during`, and with `outer`. */
class IdleSignal {
  readonly #controller = new AbortController();
  readonly #ms: number;
  readonly #outer: AbortSignal;
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number, outer: AbortSignal) {
    this.#ms = ms;
    this.#outer = outer;
    if (outer.aborted) this.#abort();
    outer.addEventListener('abort', this.#abort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  readonly #abort = (): void => {
    const why = new MeshError('deadline', `nothing came from the remote for ${Math.ceil(this.#ms / 1000)} s`);
    this.#controller.abort(this.#outer.aborted ? this.#outer.reason : why);
  };

  touch(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#abort, this.#ms);
    this.#timer.unref();
  }

  rest(): void {
    clearTimeout(this.#timer);
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    this.touch();
    try {
      return await work();
    } finally {
      this.rest();
    }
  }

  end(): void {
    this.rest();
    this.#outer.removeEventListener('abort', this.#abort);
  }
}

function watched(exchange: Exchange, idle: IdleSignal, onProgress: Watching['onProgress']): Exchange {
  return {
    advertised: exchange.advertised,
    async *post(body) {
      let bytes = 0;
      let last = performance.now();
      const tell = (more: string): void => onProgress?.(`received ${(bytes / mebibyte).toFixed(1)} MiB${more}`);
      idle.touch();
      try {
        for await (const chunk of exchange.post(body)) {
          // Not while what came is worked on: that is no silence of the remote's.
          idle.rest();
          bytes += chunk.length;
          if (performance.now() - last >= tellEveryMs) {
            last = performance.now();
            tell('');
          }
          yield chunk;
          idle.touch();
        }
        if (bytes >= mebibyte) tell(', checking it');
      } finally {
        idle.rest();
      }
    },
    async close() {
      idle.end();
      await exchange.close();
    },
  };
}

/** Tells a watching person every few seconds that `work` still goes on. */
export async function withHeartbeat<T>(
  onProgress: ((line: string) => void) | undefined,
  what: string,
  work: () => Promise<T>,
): Promise<T> {
  if (onProgress === undefined) return work();
  const began = performance.now();
  const timer = setInterval(() => {
    onProgress(`${what} (${Math.round((performance.now() - began) / 1000)} s)`);
  }, heartbeatMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

const heartbeatMs = 3_000;
