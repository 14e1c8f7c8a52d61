import type { ProcessIdentity } from './store/ports.js';
import type { Edge } from './mesh/older-history.js';
import type * as M from './domain/membership-results.js';
import type * as R from './domain/results.js';

/**
 * One caller's connection: an MCP client's, or one command. It remembers who checked in over it, so that a call that
 * names no agent still renews the right one, and agent_send knows its sender.
 */
export interface Connection {
  /** Set for a process that stays (an MCP server): named by `also_checked_in`. */
  readonly owner: ProcessIdentity | null;
  /** Keys (lower case) of agents that checked in over this connection and did not check out. */
  readonly agents: Set<string>;
}

export interface CallOptions {
  connection: Connection;
  signal?: AbortSignal;
  /** Called while a wait goes on, about every 5 s. */
  onProgress?: (waitedSeconds: number) => void;
}

/**
 * The use cases, one a tool, over an open store. Inputs are unparsed: each is checked here, so that every front end
 * gives the same errors. Every rejection that a caller can mend is a MeshError.
 */
export interface MeshApi {
  checkin(input: unknown, call: CallOptions): Promise<R.CheckinResult>;
  agents(input: unknown, call: CallOptions): Promise<R.AgentsResult>;
  send(input: unknown, call: CallOptions): Promise<R.SendResult>;
  inbox(input: unknown, call: CallOptions): Promise<R.InboxResult>;
  /** `message_ids` may hold ULIDs too where `allowUlids` is set (the command line); `all: true` stands for the inbox. */
  ack(input: unknown, call: CallOptions & { allowUlids?: boolean }): Promise<R.AckResult>;
  sent(input: unknown, call: CallOptions): Promise<R.SentResult>;
  checkout(input: unknown, call: CallOptions): Promise<R.CheckoutResult>;
  /** Withdraws an own message that nobody read. */
  unsend(input: unknown): Promise<R.UnsendResult>;
  /** Every event of one message. `onEdge` as for {@link MeshApi.log}. */
  trace(input: unknown, options?: { onEdge?: (edge: Edge) => void }): Promise<R.TraceResult>;
  /** For a client's hook: what is new for the agents here, told to each reader once. No network. */
  mention(input: unknown): Promise<R.MentionResult>;
  /** This machine leaves the mesh for good. */
  leave(input: unknown, call: CallOptions): Promise<M.LeaveResult>;
  /** This machine signs with a new key from then on. */
  rotateKey(input: unknown, call: CallOptions): Promise<M.RotateKeyResult>;
  invite(input: unknown, call: CallOptions): Promise<M.InviteResult>;
  admit(input: unknown, call: CallOptions): Promise<M.AdmitResult>;
  revoke(input: unknown, call: CallOptions): Promise<M.RevokeResult>;
  keys(): Promise<M.KeysResult>;
  status(): Promise<R.StatusResult>;
  doctor(): Promise<R.DoctorResult>;
  /** Joins packs and gathers loose objects, all that is to be done at once. */
  maintain(): Promise<R.MaintainResult>;
  /** Newest first. `onEdge` is told of each machine whose history ends here before its beginning. */
  log(input: unknown, options?: { onEdge?: (edge: Edge) => void }): AsyncIterable<R.EventLine>;
  /** As {@link MeshApi.log}, with what a picture of it needs. */
  audit(input: unknown, options?: { onEdge?: (edge: Edge) => void }): AsyncIterable<R.AuditEvent>;
}
