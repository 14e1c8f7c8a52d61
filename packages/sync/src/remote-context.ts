import type { Logger, MeshContext } from '@git-mesh/core';
import type { Transport } from './transport/port.js';

/** One remote of an open store. */
export interface Remote {
  name: string;
  url: string;
  transport: Transport;
}

export interface RoundContext {
  mesh: MeshContext;
  remote: Remote;
  signal: AbortSignal;
  logger: Logger;
}

/** Bytes that one fetch may bring, and one object of it. */
export const fetchLimits: { readonly maxPackBytes: number; readonly maxObjectBytes: number } = {
  maxPackBytes: 512 * 1024 * 1024,
  maxObjectBytes: 32 * 1024 * 1024,
};
