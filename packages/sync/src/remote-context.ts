import type { Logger, MeshContext, Oid, RefName } from '@git-mesh/core';
import { PushPace } from './push-pace.js';
import type { Transport } from './transport/port.js';

/** One remote of an open store. */
export interface Remote {
  name: string;
  url: string;
  transport: Transport;
  /** Where they differ from {@link exchangeLimits}. */
  limits?: Partial<ExchangeLimits>;
  /** What exchanges of this process learnt; each makes it when it is missing. */
  learnt?: Learnt;
}

export interface Learnt {
  pace: PushPace;
  /** When branches that cannot be had were last asked for, by tip, as `performance.now()` tells. */
  askedAt: Map<Oid, number>;
  /** When everything was last fetched again, likewise. */
  refetchedAt?: number;
}

export interface RoundContext {
  mesh: MeshContext;
  remote: Remote;
  /** True where this process has seen the remote before, and what it has of the own branch there. */
  hasSeenOwn?: boolean;
  signal: AbortSignal;
  logger: Logger;
  /** What the remote has by now, where another exchange was told it. */
  told?: ReadonlyMap<RefName, Oid>;
  /** How many commits are fetched of a branch that is new here, where the remote offers that; all where left out. */
  depth?: number;
}

/** Bytes that one fetch may bring, and one object of it. */
export const fetchLimits: { readonly maxPackBytes: number; readonly maxObjectBytes: number } = {
  maxPackBytes: 512 * 1024 * 1024,
  maxObjectBytes: 32 * 1024 * 1024,
};

/**
 * A backlog of any length is taken in pieces, each of which is kept whatever becomes of the next. What one call leaves
 * over, the next round goes on with.
 */
export interface ExchangeLimits {
  /** Commits of a branch that are checked and accepted in one step. */
  commitsAtOnce: number;
  /** Commits that one fetch accepts of all branches: what they bring is journaled before more is taken in. */
  commitsAFetch: number;
  /** Milliseconds after which a fetch begins no further step. One step is always made. */
  fetchMs: number;
  /** Milliseconds after which a push begins no further step. */
  pushMs: number;
  /** Commits of the first push; the next ones follow how fast it was. */
  firstPush: number;
}

/** Fetch and push together stay below the 20 s of a round. */
export const exchangeLimits: ExchangeLimits = {
  commitsAtOnce: 1_000,
  commitsAFetch: 10_000,
  fetchMs: 8_000,
  pushMs: 8_000,
  firstPush: 100,
};

export const limitsOf = ({ limits }: Remote): ExchangeLimits => ({ ...exchangeLimits, ...limits });

export function learntOf(remote: Remote): Learnt {
  remote.learnt ??= { pace: new PushPace(limitsOf(remote).firstPush), askedAt: new Map() };
  return remote.learnt;
}
