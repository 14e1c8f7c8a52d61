import type { AgentId, Handle, IsoTime, Ulid } from './ids.js';
import type { MessageType } from './records.js';

/** What the rules need of the arrival journal; the store's entries have these fields and more. */

export interface MessageFacts {
  /** The message's number on this machine. */
  n: number;
  id: Ulid;
  sender: Handle;
  agent: AgentId | null;
  to: Handle | '*';
  to_agent: AgentId | null;
  type: MessageType;
  sent_at: IsoTime;
  expires_at: IsoTime;
  /** When it arrived here, by this machine's clock. */
  at: IsoTime;
  /** Where the clock was set back since: the earliest time at which something was journaled after it. */
  at_most?: IsoTime;
  /** How far the sender's clock is proven to be behind ours, in milliseconds; left out where it is not. */
  behind_ms?: number;
  /** The sender's Mesh-Seq that covers it. */
  seq: number;
  in_reply_to: Ulid | null;
  repo: string | null;
  reason: string | null;
}

export interface AckFacts {
  id: Ulid;
  machine: Handle;
  agent: AgentId;
  /** The other machine's claim. */
  at: IsoTime;
}

interface ReceiptFacts {
  machine: Handle;
  /** The own branch's Mesh-Seq up to which `machine` has fetched it. */
  seq: number;
  at: IsoTime;
}

interface PushFacts {
  seq: number;
  at: IsoTime;
}

/** What is known of own messages' ways, each list in the order in which it was learned. */
export interface DeliveryFacts {
  readonly pushed: readonly PushFacts[];
  readonly receipts: readonly ReceiptFacts[];
  readonly acked: readonly AckFacts[];
}
