import type { AgentId, Handle, IsoTime, Oid, Ulid } from './ids.js';
import type { EventName, JsonObject, MessageType } from './records.js';

/** The results of the use cases: what a tool gives as structuredContent and the command line prints with `--json`. */

export type MessageState = 'queued' | 'pushed' | 'delivered' | 'acked' | 'expired';
/** `signed`: the key is attested; `first-seen`: pinned here on first sight; `unverified`: neither. */
export type Verified = 'signed' | 'first-seen' | 'unverified';

export interface SyncSummary {
  state: 'ok' | 'partial' | 'offline' | 'none';
  last_ok_at: IsoTime | null;
  /** Own commits that at least one remote has not got yet. */
  queued: number;
  error: { name: string; message: string } | null;
}

export interface AgentView {
  agent_id: AgentId;
  machine: Handle;
  role: string | null;
  repo: string | null;
  caps: string[];
  status: string | null;
  status_since: IsoTime | null;
  /** Whole seconds since the status text last changed; null without a status. */
  status_age_s: number | null;
  checked_in_at: IsoTime;
  last_activity_at: IsoTime;
  expires_at: IsoTime;
  ttl_seconds: number;
  alive: boolean;
}

export interface FreezeView {
  message_id: number | null;
  id: Ulid;
  machine: Handle;
  agent: AgentId | null;
  repo: string | null;
  reason: string | null;
  since: IsoTime;
  expires_at: IsoTime;
}

export type HerdrWake = 'registered' | 'off' | 'unsupported';

export interface CheckinPreview {
  preview: true;
  record: AgentView;
  next: string;
}
export interface CheckinDone extends AgentView {
  preview: false;
  renewed: boolean;
  herdr_wake: HerdrWake;
  freezes: FreezeView[];
  missed: { count: number; ids: Ulid[] };
  also_checked_in?: { pid: number; since: IsoTime }[];
  sync: SyncSummary;
}
export type CheckinResult = CheckinPreview | CheckinDone;

export interface MachineView {
  handle: Handle;
  label: string | null;
  last_seen_at: IsoTime | null;
  verified: Verified;
  /** Only of a machine that left the mesh, which is shown on request. */
  left_at?: IsoTime;
}
export interface AgentsResult {
  machine: Handle;
  agents: AgentView[];
  machines: MachineView[];
  freezes: FreezeView[];
  sync: SyncSummary;
  /** What is wrong with machines: branches that are not accepted, keys, who counts. Left out where nothing is. */
  problems?: Problem[];
}

export interface SendResult {
  id: Ulid;
  message_id: number;
  to: string;
  to_agent: AgentId | null;
  msg_type: MessageType;
  state: MessageState;
  /** Agents it reaches now: `agent` for one machine, `machine/agent` for `*`. */
  recipients: string[];
  expires_at: IsoTime;
  duplicate?: true;
  warning?: string;
}

export interface InboxMessage {
  message_id: number;
  id: Ulid;
  from: { machine: Handle; agent: AgentId | null; verified: Verified };
  msg_type: MessageType;
  payload: JsonObject;
  sent_at: IsoTime;
  arrived_at: IsoTime;
  expires_at: IsoTime;
  in_reply_to: Ulid | null;
  /** Addressed to this agent by name. */
  directed: boolean;
}
export interface InboxResult {
  agent_id: AgentId;
  machine: Handle;
  messages: InboxMessage[];
  /** Messages after the last one given here. */
  remaining: number;
  notice: string;
  sync: SyncSummary;
}

export interface AckPreview {
  preview: true;
  would_ack: number[];
  already_acked: number[];
  unknown: number[];
  next: string;
}
export interface AckDone {
  preview: false;
  acked: number[];
  already_acked: number[];
  unknown: number[];
}
export type AckResult = AckPreview | AckDone;

export interface SentMessage {
  message_id: number;
  id: Ulid;
  to: string;
  to_agent: AgentId | null;
  msg_type: MessageType;
  from_agent: AgentId | null;
  payload: JsonObject;
  sent_at: IsoTime;
  expires_at: IsoTime;
  in_reply_to: Ulid | null;
  state: MessageState;
  pushed_at: IsoTime | null;
  delivered_at: IsoTime | null;
  delivered_to: { machine: Handle; at: IsoTime }[];
  acks: { machine: Handle; agent: AgentId; at: IsoTime }[];
  /** Only where it was withdrawn: its state is `expired`. */
  unsent?: true;
}
export interface SentResult {
  messages: SentMessage[];
  sync: SyncSummary;
}

export interface CheckoutResult {
  preview: boolean;
  agent_id: AgentId;
  machine: Handle;
  next?: string;
}

/** The result of `init` and `join`. `store` is a path on this machine, for its own user. */
export interface MembershipResult {
  mesh: { id: Ulid; name: string };
  machine: Handle;
  store: string;
  remotes: { name: string; url: string }[];
  writable: boolean;
  /** Of a join by an invitation: whose, and whether that machine's admission has come back by now. */
  invited?: { by: Handle; policy: 'open' | 'roster'; admitted: boolean };
  /** What is otherwise than asked for: that this machine reads only, with why and what to do, or joined in place of founding. */
  warning?: string;
}

export interface Problem {
  kind: string;
  machine?: string;
  path?: string;
  message: string;
  fix?: string;
}

export interface RemoteStatus {
  name: string;
  /** Without credentials. */
  url: string;
  state: 'ok' | 'error' | 'unknown';
  last_ok_at: IsoTime | null;
  next_try_at: IsoTime | null;
  queued: number;
  error: { name: string; message: string } | null;
}

export interface RemotesResult {
  remotes: RemoteStatus[];
}
export interface RemoteAddedResult extends RemotesResult {
  name: string;
  /** Without credentials. */
  url: string;
  /** What was there before: this mesh, nothing at all, or a repository without a mesh. */
  found: 'mesh' | 'empty' | 'repository';
  /** False where the first exchange with it did not succeed, or it takes no push. */
  writable: boolean;
  /** What was found wrong with what is there. */
  problems: Problem[];
}
export interface RemoteRemovedResult extends RemotesResult {
  name: string;
  url: string;
}

export interface ReclaimResult {
  remote: string;
  /** Without credentials. */
  url: string;
  machine: Handle;
  /** The own branch's tip now. */
  tip: Oid;
  /** What was replaced there; null where nothing had to be. */
  replaced: Oid | null;
  /** The ref in this store under which it is kept. */
  kept_as: string | null;
  sync: Pick<SyncSummary, 'state' | 'error'>;
}

export interface StatusResult {
  mesh: { id: Ulid; name: string };
  machine: Handle;
  store: string;
  format: number;
  policy: 'open' | 'roster';
  worker: { state: 'running'; pid: number; since: IsoTime } | null;
  remotes: RemoteStatus[];
  agents: { alive: number; known: number };
  journal: { highest: number; entries: number };
  /** Only where machines' older commits are not in this store. */
  history?: PartialHistory;
  problems: Problem[];
}

/** What a machine that joined a long mesh has not fetched: nothing live is in it. */
export interface PartialHistory {
  older_commits: number;
  machines: Handle[];
}

/** What came of asking for the whole history. */
export interface HistoryResult {
  complete: boolean;
  /** Commits that passed the checks and came to the history here. */
  fetched: number;
  /** What is still missing. */
  history?: PartialHistory;
  problems: Problem[];
}

export interface DoctorResult {
  ok: boolean;
  /** As in {@link StatusResult}; no problem. */
  history?: PartialHistory;
  /** What is to be known and harms nothing: `ok` says nothing of it. Left out where there is none. */
  notices?: Problem[];
  problems: Problem[];
}

/** What `maintain` did: counts and bytes of all files that hold objects. */
export interface MaintainResult {
  /** Different ones that are there. Maintenance drops none. */
  objects: number;
  packs_before: number;
  packs_after: number;
  /** Objects in files of their own. */
  loose_before: number;
  loose_after: number;
  bytes_before: number;
  bytes_after: number;
}

/** A line of `log`. `signature` is what the commit's signature proves about its branch's owner. */
export interface EventLine {
  event: EventName | 'unknown';
  commit: Oid;
  at: IsoTime;
  machine: Handle;
  agent: string | null;
  subject: string;
  message_id?: number;
  id?: Ulid;
  to?: string;
  type?: MessageType;
  signature: 'good' | 'bad' | 'none';
  /** Of a machine that was revoked since. */
  revoked?: true;
}

/** A message that its sender took back: it is in no inbox any more. */
export interface UnsendResult {
  id: Ulid;
  message_id: number;
  to: string;
  to_agent: AgentId | null;
  msg_type: MessageType;
}

/** Agents on this machine with mail that a reader was not told of before. */
export interface MentionResult {
  /** `fresh`: messages not mentioned before; `unread`: those and the others that wait. */
  agents: { agent_id: AgentId; fresh: number; unread: number }[];
}

/** The result of `trace`: oldest first. */
export interface TraceResult {
  id: Ulid;
  events: EventLine[];
}

/** An event with all messages that its commit names, and what this machine knows of the first. */
export interface AuditEvent extends EventLine {
  ids: Ulid[];
  repo: string | null;
  expires_at: IsoTime | null;
  in_reply_to: Ulid | null;
}

export interface GuardResult {
  frozen: boolean;
  freezes: FreezeView[];
}

/** The result of `export`. Nothing new since the last one of that name: 0 branches, 0 commits, and no file. */
export interface ExportResult {
  /** An absolute path on this machine, for its own user. */
  file: string;
  /** Branches of the mesh with something in the bundle, the charter's too. */
  branches: number;
  commits: number;
  /** Branches of others that could not be read as a whole here, and so are not in it. */
  left_out: { machine: Handle; message: string }[];
}

/** The result of `import`. All 0 for a bundle that was imported before. */
export interface ImportResult {
  /** As for {@link ExportResult}; `-` for standard input. */
  file: string;
  /** Machines whose branches moved here. */
  branches: number;
  /** By how many commits they moved. */
  commits: number;
  /** Messages for this machine that got their numbers. */
  arrived: number;
  /** What stayed where it was, and why. */
  rejected: { machine: string; kind: string; message: string }[];
}
