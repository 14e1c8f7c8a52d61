import type {
  Connection,
  ExportResult,
  HistoryResult,
  ImportResult,
  Logger,
  MembershipResult,
  MeshApi,
  OutlinedMessage,
  ReclaimResult,
  RemoteAddedResult,
  RemoteRemovedResult,
  SyncSummary,
  Syncer,
} from '@git-mesh/core';
import type { ExportOptions } from './bundle/export.js';
import type { PathWatch } from './watch.js';
import type { ImportOptions } from './bundle/import.js';
import type { WholeHistoryOptions } from './whole-history.js';

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
  /** Gets the older history that this store lacks, after which `git log` in it shows all; in steps that each last. */
  fetchHistory(options?: WholeHistoryOptions): Promise<HistoryResult>;
  /** For a command where no worker runs: one bounded round; where a worker is alive: nothing. */
  inlineSync(options: { deadlineMs: number }): Promise<void>;
  /** Writes the mesh, or what is new of it, as a git bundle. */
  exportBundle(options: ExportOptions): Promise<ExportResult>;
  /** Takes in a git bundle with the checks of a fetch. */
  importBundle(options: ImportOptions): Promise<ImportResult>;
  newConnection(options: { resident: boolean }): Connection;
  /**
   * Calls `listener` soon after anything that the use cases tell of may have changed in the store, by whichever process:
   * branches, the journal, the state of the remotes. May call without a change; one call stands for a burst of them.
   * Presence and freezes that end by the clock alone are no change. Once `ready` resolves no change is missed. Closed with
   * the mesh at the latest.
   */
  onChange(listener: () => void): PathWatch;
  /**
   * Which messages an agent's inbox would show; null where it is not checked in. Unlike agent_inbox it renews nothing.
   * @throws MeshError `invalid_argument`
   */
  inboxOutline(agentId: string): Promise<readonly OutlinedMessage[] | null>;
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
  /** A private key to sign with, which is copied; a new one is made where left out. */
  keyFile?: string;
  policy?: 'open' | 'roster';
  refPrefix?: string;
  /** Everyone may read the remote, and that is meant. */
  allowPublic?: boolean;
  onProgress?: (line: string) => void;
}

export interface JoinOptions extends OpenOptions {
  url: string;
  machine?: string;
  hostname: string;
  label?: string;
  /** As in {@link InitOptions}. */
  keyFile?: string;
  /** Everyone may read the remote, and that is meant. */
  allowPublic?: boolean;
  /** Commits that the mesh may have for its whole history to come along; 2,000 where left out. */
  historyUpTo?: number;
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

export interface ReclaimOptions extends OpenOptions {
  /** Its name. */
  remote: string;
}

/** @throws MeshError `not_found` with the known names, `push_refused`, `conflict`, and what the transport throws. */
export type ReclaimFunction = (options: ReclaimOptions) => Promise<ReclaimResult>;

/**
 * @throws MeshError `invalid_argument` (name, URL), `conflict` (name or repository is a remote already), `different_mesh`,
 * `forbidden` (everybody can read it), and what the transport throws; then nothing was stored.
 */
export type AddRemoteFunction = (options: AddRemoteOptions) => Promise<RemoteAddedResult>;
/** @throws MeshError `not_found` with the known names. */
export type RemoveRemoteFunction = (options: RemoveRemoteOptions) => Promise<RemoteRemovedResult>;

/** @throws MeshError `no_mesh` when there is no store at `dir`, `store_unusable`, `format_too_new`. */
export type OpenMeshFunction = (options: OpenOptions) => Promise<OpenMesh>;
/**
 * Called again after it was interrupted, it finishes what is left.
 *
 * @throws MeshError `mesh_exists` when the remote already is another mesh or `dir` already is another store, `forbidden`
 * for a remote that everyone can read.
 */
export type InitMeshFunction = (options: InitOptions) => Promise<MembershipResult>;
/**
 * Called again after it was interrupted, it finishes what is left.
 *
 * @throws MeshError `handle_taken`, `not_found` (no mesh there), `mesh_exists` (dir is a store already, with nothing left
 * to finish), `forbidden` for a remote that everyone can read.
 */
export type JoinMeshFunction = (options: JoinOptions) => Promise<MembershipResult>;

/**
 * Finds the store: `--dir`, GIT_MESH_DIR, `git config mesh.dir` around the working directory, a per-user default.
 * `cwd` and `homedir` may be functions, called only where the answer needs them: either may not be there at all.
 */
export type LocateStoreFunction = (options: {
  dir?: string | undefined;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string | (() => string);
  platform: string;
  homedir: string | (() => string);
}) => Promise<{ dir: string; source: '--dir' | 'GIT_MESH_DIR' | 'git config' | 'default' }>;
