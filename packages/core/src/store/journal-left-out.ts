import type { AgentKey, Handle, Ulid } from '../domain/ids.js';

/** What a view of the journal leaves out: enough to tell what cannot be among it, without a list. */
export interface LeftOut {
  /** The highest number of a message that is left out; 0 where none is. */
  readonly highest: number;
  /** The highest ULID that is left out, by sender. A sender's rise, so a new message is above it. */
  readonly ids: ReadonlyMap<Handle, Ulid>;
  /** The same of own messages, by the agent here that sent them. */
  readonly agents: ReadonlyMap<AgentKey, Ulid>;
}

export const nothingLeftOut: LeftOut = { highest: 0, ids: new Map(), agents: new Map() };
