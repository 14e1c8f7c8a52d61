/**
 * What a soak did and saw, as plain data: written while it runs, read by the checker. Times are milliseconds of the
 * harness's own monotonic clock. A message is known by its number `nr`, which stands in its payload: repeated sends
 * with one `key` share it.
 */

export type Payload = Record<string, unknown> & { soak: number };

/**
 * `accepted`: exit code 0 with the JSON, or the tool's answer. `denied`: an error that says that nothing was stored.
 * `unknown`: everything else, such as a process that was killed in the middle: it may have happened or not.
 */
export type Outcome = 'accepted' | 'denied' | 'unknown';

export interface Message {
  nr: number;
  /** The sender. */
  machine: string;
  from: string | null;
  /** Whether the call names the sender. */
  isNamed: boolean;
  to: string;
  toAgent: string | null;
  type: string;
  key: string | null;
  payload: Payload;
}

export interface SendAttempt {
  nr: number;
  startedAt: number;
  /** When nothing of it could happen any more; Infinity where that is not known. */
  endedAt: number;
  outcome: Outcome;
  /** Of an accepted one. */
  id: string | null;
  messageId: number | null;
  /** The error's words, where there was one. */
  error: string | null;
}

export interface AckAttempt {
  machine: string;
  agent: string;
  /** The messages' ULIDs. */
  ids: string[];
  outcome: Outcome;
  error: string | null;
}

/** A message in an answer of a machine: of its inbox, or of what it sent. */
export interface Sighting {
  machine: string;
  id: string;
  messageId: number;
  /** Null in answers that do not show it. */
  from: { machine: string; agent: string | null } | null;
  type: string | null;
  payload: Record<string, unknown> | null;
  /** Whose inbox; null where it was not one. */
  inbox: string | null;
}

export interface Ledger {
  messages: Map<number, Message>;
  sends: SendAttempt[];
  acks: AckAttempt[];
  /** All that was seen while it ran, and at the end. */
  sightings: Sighting[];
  /** What was found wrong on the way, already in words. */
  faults: { kind: FaultFound; text: string }[];
}

export type FaultFound =
  | 'lost'
  | 'duplicated'
  | 'phantom'
  | 'misordered'
  | 'wrong ack'
  | 'lost ack'
  | 'number'
  | 'denied but stored'
  | 'false state'
  | 'forced push'
  | 'hung'
  | 'not quiet'
  | 'store'
  | 'leftover'
  | 'process left';

export function newLedger(): Ledger {
  return { messages: new Map(), sends: [], acks: [], sightings: [], faults: [] };
}
