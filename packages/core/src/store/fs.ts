/**
 * The disk as the store uses it. Paths are absolute, with `/` or the platform's separator. Failures are node's own errors (`code: 'ENOENT'`…):
 * {@link guardedFs} makes the ones a user can mend into MeshErrors.
 */
export interface Fs {
  /**
   * `new`: creates, and fails with EEXIST where something is. `read`: what is there. `append`: what is there, written
   * at its end.
   */
  open(path: string, how: 'new' | 'read' | 'append', mode?: number): Promise<FsFile>;
  readFile(path: string): Promise<Uint8Array>;
  /** Null where nothing is. Symbolic links are followed. */
  stat(path: string): Promise<FsStat | null>;
  /** Names, in no order; none where no folder is. */
  list(folder: string): Promise<string[]>;
  /** With its parents; safe to repeat. Gives the topmost folder that was made, or null when all were there. */
  makeFolder(path: string): Promise<string | null>;
  /** Replaces a file at `to` atomically. A folder replaces nothing but an empty folder. */
  rename(from: string, to: string): Promise<void>;
  /** A second name for a file; EEXIST where something is. */
  link(existing: string, path: string): Promise<void>;
  /** @throws ENOENT where nothing is. */
  unlink(path: string): Promise<void>;
  /** Removes an empty folder. */
  removeFolder(path: string): Promise<void>;
  /** Removes a file or a folder with what is in it; nothing where nothing is. */
  removeAll(path: string): Promise<void>;
  /** Makes renames and unlinks in a folder durable; does nothing where the platform cannot (Windows). */
  syncFolder(path: string): Promise<void>;
}

export interface FsFile {
  /** All of it, at the end (`new`, `append`). */
  write(bytes: Uint8Array): Promise<void>;
  /** Up to `length` bytes from `offset`: fewer only at the end of the file. */
  read(offset: number, length: number): Promise<Uint8Array>;
  stat(): Promise<FsStat>;
  truncate(length: number): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface FsStat {
  kind: 'file' | 'folder' | 'other';
  size: number;
  /** Milliseconds since 1970 by the file system's clock. */
  mtimeMs: number;
  inode: number;
  /** The file system it is on; may differ after a restart of the machine. */
  device: number;
}

/** The `code` of one of node's errors; undefined for any other value. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** True for one of node's errors with one of these codes. */
export function isErrno(error: unknown, ...codes: string[]): boolean {
  const code = errnoOf(error);
  return code !== undefined && codes.includes(code);
}
