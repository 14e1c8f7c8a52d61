import { MeshError } from '@git-mesh/core';
import type { Advertisement, Exchange, Service, Transport } from './port.js';

export interface HeadStart {
  /** The same transport, whose first exchange of that service is the one that was begun. */
  transport: Transport;
  /** What the exchange was told of the remote; it still goes to whoever asks for it. @throws MeshError as it became. */
  advertised(): Promise<Advertisement>;
  /** Ends the exchange where nobody asked for it. Never throws; always to be called. */
  end(): Promise<void>;
}

/** A server on http ends a connection over which nothing is said, many after 5 s. */
const freshForMs = 3_000;

/**
 * Begins an exchange that will be asked for, before what has to come before it: whoever will push is told there what the
 * remote has, and mostly needs no other connection. Whoever opens it gets what became of it, an error too.
 */
export function headStart(transport: Transport, service: Service, options: { signal: AbortSignal }): HeadStart {
  const unwanted = new AbortController();
  const signal = AbortSignal.any([options.signal, unwanted.signal]);
  const opened = transport.open(service, { signal });
  let begun: Promise<Exchange> | null = opened;
  // Thrown where it is asked for; where nobody asks it is no failure.
  opened.catch(() => undefined);
  let openedAt = Number.POSITIVE_INFINITY;
  opened.then(
    () => (openedAt = performance.now()),
    () => undefined,
  );
  const take = (): Promise<Exchange> | null => {
    const taken = begun;
    begun = null;
    return taken;
  };
  const isStale = (): boolean => performance.now() - openedAt > freshForMs;
  return {
    transport: {
      ...transport,
      open: async (wanted, wantedOptions) => {
        const early = wanted === service ? take() : null;
        if (early === null) return transport.open(wanted, wantedOptions);
        if (!isStale()) return early;
        await (await early).close();
        return transport.open(wanted, wantedOptions);
      },
    },
    advertised: async () => (await opened).advertised,
    end: async () => {
      const left = take();
      if (left === null) return;
      // One that is not there yet is not waited for.
      unwanted.abort(new MeshError('deadline', 'the connection is not needed any more'));
      const exchange = await left.catch(() => null);
      await exchange?.close();
    },
  };
}
