import type { Oid, RefName } from '@git-mesh/core';

/** What a remote says it has, read to the closing flush: an advertisement that was cut is an error, never an empty one. */
export interface Advertisement {
  /** Everything under `refs/`, without peeled tags, `.have` lines and names that git itself would refuse. */
  refs: ReadonlyMap<RefName, Oid>;
  /** As advertised, as in `side-band-64k` or `agent=git/2.39.5`. */
  capabilities: ReadonlySet<string>;
  /** The symref target of HEAD, where HEAD points at a branch that exists; null otherwise. */
  head: string | null;
}

export type Service = 'git-upload-pack' | 'git-receive-pack';

/** One conversation with one service of a remote: what it advertised, then at most one request and its answer. */
export interface Exchange {
  readonly advertised: Advertisement;
  /**
   * Sends the request's body, which is complete in itself (no further round), and yields the raw answer. Once only:
   * a second call is a bug. The iteration ends normally only when the service ended well; leaving it early ends the exchange.
   *
   * @throws MeshError `protocol_error` when the service failed (with its own words), `unreachable` when the connection
   * was lost, `deadline` when the signal of {@link Transport.open} fired.
   */
  post(body: AsyncIterable<Uint8Array> | Uint8Array): AsyncIterable<Uint8Array>;
  /**
   * Ends the exchange: politely where nothing was posted, else by force. Never throws; safe to call twice, at any
   * time, and always to be called. When it resolves no process and no connection of the exchange is left.
   */
  close(): Promise<void>;
}

/** The way to one remote. Holds nothing open between exchanges; several exchanges may run at once. */
export interface Transport {
  /**
   * Starts `service` and reads its advertisement. The signal bounds the whole exchange: when it fires, everything the
   * exchange started is ended (children of children too) and whatever waits rejects with `deadline`.
   *
   * @throws MeshError `unreachable` (nobody answers, or git is not installed), `auth_failed` (refused: permissions,
   * credentials, or an owner git does not trust), `remote_not_found` (there is nothing at that address),
   * `not_a_repository` (there is something, but no repository that can be used: not bare, shallow, SHA-256),
   * `push_refused` (of git-receive-pack: whoever we are may read, but not push), `protocol_error` (the answer is not
   * git's), `deadline`.
   */
  open(service: Service, options: { signal: AbortSignal }): Promise<Exchange>;
  /**
   * The refs that begin with `prefix`, where they can be had for less than {@link Transport.open} with all the others;
   * null where they cannot, which is remembered. Absent where they never can.
   *
   * @throws MeshError as {@link Transport.open} does.
   */
  refs?(prefix: string, options: { signal: AbortSignal }): Promise<ReadonlyMap<RefName, Oid> | null>;
  /** The folder in which a local remote keeps its refs (it holds `refs/` and `packed-refs`), for watching; null otherwise. */
  readonly watchable: string | null;
}
