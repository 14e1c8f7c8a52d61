import type { AgentId, EpochMillis, Handle, IsoTime, Oid, Ulid } from './ids.js';

/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = Record<string, Json>;

export const messageTypes = ['ping', 'pr-ready', 'freeze', 'freeze-clear', 'release-out', 'handoff', 'note'] as const;
export type MessageType = (typeof messageTypes)[number];

/** The only version of the on-disk format so far. A mesh with a higher one is refused with "update git-mesh". */
export const formatVersion = 1;

/** `mesh.yaml` on the charter branch. Keys stand in this order. */
export interface CharterRecord {
  format: number;
  mesh: Ulid;
  name: string;
  policy: 'open' | 'roster';
  created_at: IsoTime;
  founder: { handle: Handle; key: string };
}

/** `machine.yaml`. `key` is the public key as one OpenSSH line without a comment: `ssh-ed25519 AAAA…`. */
export interface MachineRecord {
  format: number;
  mesh: Ulid;
  handle: Handle;
  label: string | null;
  store: Ulid;
  key: string;
  joined_at: IsoTime;
  left_at?: IsoTime;
  /** The keys it had before, oldest first, each with its signature (base64) of the key that followed. */
  previous?: { key: string; signature: string }[];
  /** By whose invitation it joins, and the proof (an HMAC, base64url) that it has the secret. */
  invite?: { by: Handle; id: string; proof: string };
  /** The commit of the charter that it goes by. */
  charter?: Oid;
}

/** `presence/<agent>.yaml`. */
export interface PresenceRecord {
  agent: AgentId;
  role: string | null;
  repo: string | null;
  caps: string[];
  status: string | null;
  status_since: IsoTime | null;
  checked_in_at: IsoTime;
  last_activity_at: IsoTime;
  expires_at: IsoTime;
  ttl_seconds: number;
}

/** `messages/<to>/<YYYY-MM-DD>/<HHMM>/<ulid>.yaml`. */
export interface MessageRecord {
  id: Ulid;
  type: MessageType;
  from: { machine: Handle; agent?: AgentId };
  to: { machine: Handle | '*'; agent?: AgentId };
  sent_at: IsoTime;
  expires_at: IsoTime;
  in_reply_to?: Ulid;
  key?: string;
  payload: JsonObject;
}

/** `acks/<sender>/<ulid>.yaml`. */
export interface AckRecord {
  id: Ulid;
  acks: { agent: AgentId; at: IsoTime }[];
}

/** `receipts/<sender>.yaml`; `key` is the fingerprint of the key pinned for the sender (`SHA256:…`). */
export interface ReceiptRecord {
  delivered_through: { seq: number; commit: Oid };
  at: IsoTime;
  key: string;
}

/** `roster/<handle>.yaml`. Exactly one of `admitted_at` and `revoked_at` is there; `through` goes with the latter. */
export interface RosterRecord {
  handle: Handle;
  key: string;
  admitted_at?: IsoTime;
  revoked_at?: IsoTime;
  through?: { seq: number; commit: Oid };
}

export type EventName =
  | 'init'
  | 'join'
  | 'checkin'
  | 'status'
  | 'renew'
  | 'checkout'
  | 'send'
  | 'ack'
  | 'receipt'
  | 'expire'
  | 'prune'
  | 'roster'
  | 'unsend'
  | 'leave'
  | 'rotate-key';

/** What a commit says of itself: its subject is made from this and its trailers carry it. */
export interface CommitEvent {
  event: EventName;
  /** The acting agent; null when the machine itself acts. */
  agent: AgentId | null;
  /** `Mesh-Seq`: this branch's commit counter, 1 for the first. */
  seq: number;
  /** `Mesh-Journal`: the highest message number given out by this machine. */
  journal: number;
  /** `Mesh-Message`, one trailer each. */
  messages: Ulid[];
  /** `Mesh-To`: `handle`, `handle/agent` or `*`. */
  to?: string;
  /** `Mesh-Type`. */
  type?: MessageType;
  /** `Mesh-Read`, one trailer each: `<sender>@<commit>`. */
  read: { sender: Handle; commit: Oid }[];
  /** What follows the event in the subject; may be untrusted text, is cleaned by the formatter. */
  summary: string;
}

export interface Person {
  name: string;
  email: string;
  at: EpochMillis;
}
