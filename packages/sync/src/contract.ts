import type {
  Connection,
  Logger,
  MembershipResult,
  MeshApi,
  RemoteAddedResult,
  RemoteRemovedResult,
  SyncSummary,
  Syncer,
} from '@git-mesh/core';

/** What the front ends (mcp, cli) use: an open mesh with its synchronisation wired in. */
export interface OpenMesh {
  readonly api: MeshApi;
  readonly syncer: Syncer;
  /**
   * Runs for the worker's election for as long as the mesh is open, and works while elected. Called once, by the
   * first tool call (MCP) or by `sync --watch`. Returns at once.
   */
  startWorker(): void;
  /**
   * A full round now, ignoring back-off, and carrying what others wrote without waiting; for `git mesh sync`. With
   * `remotes` only those of these names.
   */
  syncNow(options?: { signal?: AbortSignal; remotes?: readonly string[] }): Promise<SyncSummary>;
  /** For a command where no worker runs: one bounded round; where a worker is alive: nothing. */
  inlineSync(options: { deadlineMs: number }): Promise<void>;
  newConnection(options: { resident: boolean }): Connection;
  /** Stops the worker, releases everything. Safe to call twice. */
  close(): Promise<void>;
}

export interface OpenOptions {
  /** The store's folder. */
  dir: string;
  env: Readonly<Record<string, string | undefined>>;
  logger: Logger;
}

export interface InitOptions extends OpenOptions {
  remote?: string;
  machine?: string;
  /** The default for `machine`: the host's name, made a valid handle. */
  hostname: string;
  label?: string;
  policy?: 'open' | 'roster';
  refPrefix?: string;
  onProgress?: (line: string) => void;
}

export interface JoinOptions extends OpenOptions {
  url: string;
  machine?: string;
  hostname: string;
  label?: string;
  onProgress?: (line: string) => void;
}

export interface AddRemoteOptions extends OpenOptions {
  name: string;
  url: string;
  /** Adds a remote over http(s) that everybody can read, too. */
  allowPublic?: boolean;
  onProgress?: (line: string) => void;
}

export interface RemoveRemoteOptions extends OpenOptions {
  name: string;
}

/**
 * @throws MeshError `invalid_argument` (name, URL), `conflict` (name or repository is a remote already), `different_mesh`,
 * `forbidden` (everybody can read it), and what the transport throws; then nothing was stored.
 */
export type AddRemoteFunction = (options: AddRemoteOptions) => Promise<RemoteAddedResult>;
/** @throws MeshError `not_found` with the known names. */
export type RemoveRemoteFunction = (options: RemoveRemoteOptions) => Promise<RemoteRemovedResult>;

/** @throws MeshError `no_mesh` when there is no store at `dir`, `store_unusable`, `format_too_new`. */
export type OpenMeshFunction = (options: OpenOptions) => Promise<OpenMesh>;
/** @throws MeshError `mesh_exists` when the remote already is a mesh or `dir` already is a store. */
export type InitMeshFunction = (options: InitOptions) => Promise<MembershipResult>;
/** @throws MeshError `handle_taken`, `not_found` (no mesh there), `mesh_exists` (dir is a store already). */
export type JoinMeshFunction = (options: JoinOptions) => Promise<MembershipResult>;

/** Finds the store: `--dir`, GIT_MESH_DIR, `git config mesh.dir` around the working directory, a per-user default. */
export type LocateStoreFunction = (options: {
  dir?: string | undefined;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  platform: string;
  homedir: string;
}) => Promise<{ dir: string; source: '--dir' | 'GIT_MESH_DIR' | 'git config' | 'default' }>;
