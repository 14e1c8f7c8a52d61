import type { Oid, Store } from '@git-mesh/core';
import { fetchPack } from './transport/fetch.js';
import type { Transport } from './transport/port.js';

/** A founding is one small commit; a flood of commits on top of it is not fetched. */
export const maxCharterBytes: number = 1024 * 1024;

/**
 * Brings the commit at the tip of a charter's branch, and all below it, into the store, on no ref.
 * @throws MeshError `payload_too_large` past {@link maxCharterBytes}; what a fetch throws.
 */
export async function fetchCharter(store: Store, transport: Transport, tip: Oid, signal: AbortSignal): Promise<void> {
  const exchange = await transport.open('git-upload-pack', { signal });
  try {
    const pack = await fetchPack(exchange, { wants: [tip], haves: [], signal, maxBytes: maxCharterBytes });
    await store.objects.installPack(pack, { maxObjectBytes: maxCharterBytes });
  } finally {
    await exchange.close();
  }
}
