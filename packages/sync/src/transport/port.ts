import type { EpochMillis, GitObject, Oid, RefName } from '@git-mesh/core';

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

/** What this process reads of a repository by itself, without any service. */
export interface RemoteView {
  /** As {@link Advertisement.refs} would be at this moment. At least one. */
  refs: ReadonlyMap<RefName, Oid>;
  /** An object whose content has that id; null where it cannot be had in this way, whatever the reason. Never throws for it. */
  read(oid: Oid): Promise<GitObject | null>;
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
  /**
   * What can be read of the remote without a service; null where only a service can tell what is there. Absent where it
   * never can be.
   *
   * @throws MeshError as {@link Transport.open} does.
   */
  view?(options: { signal: AbortSignal }): Promise<RemoteView | null>;
  /** git's locks in the repository. Absent where only who runs it can look. */
  readonly locks?: RemoteLocks;
  /** The folder in which a local remote keeps its refs (it holds `refs/` and `packed-refs`), for watching; null otherwise. */
  readonly watchable: string | null;
}

/** A lock of git's that lies in a remote's repository. Times are by the clock that dates the files there. */
export interface LockThere {
  /** From the repository's folder, as in `refs/heads/mesh/studio.lock`. */
  path: string;
  madeAt: EpochMillis;
  /** From when on it counts as left by a process that was killed; null where that cannot be told. */
  freeAt: EpochMillis | null;
  /** True from then on. */
  isLeft: boolean;
}

/** A lock that a killed git leaves blocks its ref for good: git itself never takes one over. */
export interface RemoteLocks {
  /** The lock on a ref; null where there is none. Never throws for a failure of the file system. */
  on(ref: RefName): Promise<LockThere | null>;
  /**
   * Removes the lock on a ref where it is still a left one, looking again; true once none is there.
   *
   * Only for a ref that nobody but the caller's machine writes, and by one caller at a time: of two that saw the same
   * old lock, the second would take away the one that the first's push has made since.
   */
  remove(ref: RefName): Promise<boolean>;
  /** The locks that processes which were killed left there, 20 at most. */
  left(): Promise<readonly LockThere[]>;
}
