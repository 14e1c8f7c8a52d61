import { MeshError } from '@git-mesh/core';
import type { Exchange, Service, Transport } from './port.js';

export interface HeadStart {
  /** The same transport, whose first exchange of that service is the one that was begun. */
  transport: Transport;
  /** Ends the exchange where nobody asked for it. Never throws; always to be called. */
  end(): Promise<void>;
}

/**
 * Begins an exchange that will be asked for, while another goes on: an ssh connection takes longer to be there than all
 * that is said over it. Whoever opens it gets what became of it, an error too.
 */
export function headStart(transport: Transport, service: Service, options: { signal: AbortSignal }): HeadStart {
  const unwanted = new AbortController();
  const signal = AbortSignal.any([options.signal, unwanted.signal]);
  let begun: Promise<Exchange> | null = transport.open(service, { signal });
  // Thrown where it is asked for; where nobody asks it is no failure.
  begun.catch(() => undefined);
  const take = (): Promise<Exchange> | null => {
    const taken = begun;
    begun = null;
    return taken;
  };
  return {
    transport: {
      ...transport,
      open: (wanted, wantedOptions) => (wanted === service ? take() : null) ?? transport.open(wanted, wantedOptions),
    },
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
