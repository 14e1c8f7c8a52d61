import {
  closeSync,
  fstatSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type CompiledCode, decodeCode, encodeCode } from './code-file.js';
import { isPrivate, isPrivateFolder, makeOwnFolder, type UserId } from './own-folder.js';

const largestBytes = 32 * 1024 * 1024;
/** More than there are commands, for words before a `--version` that are none. */
const mostFiles = 64;
/** Versions of git-mesh and of Node that are used beside each other. */
const mostKeys = 4;
const abandonedAfterMs = 60_000;

/**
 * The file with the compiled code of one command: `<folder>/<key>/<command>`, where the key names all that compiled code
 * depends on. Reading and writing never fail: whatever the disk refuses, there is no kept code.
 */
export class CodeStore {
  readonly #folder: string;
  readonly #file: string;
  readonly #uid: UserId;
  readonly #now: () => number;

  /** `now` in milliseconds since 1970. */
  constructor(options: { folder: string; key: string; command: string; uid: UserId; now: () => number }) {
    this.#folder = join(options.folder, options.key);
    this.#file = join(this.#folder, options.command);
    this.#uid = options.uid;
    this.#now = options.now;
  }

  /** Null where there is none, or others could have written it. */
  read(): CompiledCode | null {
    return unlessRefused(null, () => {
      if (!isPrivateFolder(this.#folder, this.#uid)) return null;
      const file = openSync(this.#file, 'r');
      try {
        const stats = fstatSync(file);
        const isOurs = stats.isFile() && isPrivate(stats, this.#uid) && stats.size <= largestBytes;
        return isOurs ? decodeCode(readFileSync(file)) : null;
      } finally {
        closeSync(file);
      }
    });
  }

  /** In one step: who reads meanwhile finds the old file or the new one. */
  write(code: CompiledCode): void {
    unlessRefused(undefined, () => {
      const isNew = !isPrivateFolder(this.#folder, this.#uid);
      if (isNew) {
        if (!makeOwnFolder(this.#folder, this.#uid) || !isPrivateFolder(this.#folder, this.#uid)) return;
        this.#removeOldKeys();
      }
      const bytes = encodeCode(code);
      if (bytes.length > largestBytes || readdirSync(this.#folder).length >= mostFiles) return;
      const temporary = `${this.#file}.tmp`;
      if (isBeingWritten(temporary, this.#now())) return;
      try {
        writeFileSync(temporary, bytes, { flag: 'wx', mode: 0o600 });
        renameSync(temporary, this.#file);
      } catch (error) {
        // Another process that is as far as this one keeps its own.
        if (!isSystemError(error) || error.code !== 'EEXIST') rmSync(temporary, { force: true });
        throw error;
      }
    });
  }

  #removeOldKeys(): void {
    const all = dirname(this.#folder);
    const byAge = readdirSync(all)
      .map((name) => ({
        path: join(all, name),
        at: statSync(join(all, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
      }))
      .sort((one, other) => other.at - one.at);
    for (const { path } of byAge.slice(mostKeys)) {
      if (path !== this.#folder) rmSync(path, { recursive: true, force: true });
    }
  }
}

/** Removes the file of a process that ended in the middle of it. */
function isBeingWritten(temporary: string, nowMs: number): boolean {
  const stats = statSync(temporary, { throwIfNoEntry: false });
  if (stats === undefined) return false;
  if (nowMs - stats.mtimeMs < abandonedAfterMs) return true;
  rmSync(temporary, { force: true });
  return false;
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && 'syscall' in error;
}

/** Kept code is only quicker: no answer of the disk may keep a command from its work. */
function unlessRefused<T>(otherwise: T, body: () => T): T {
  try {
    return body();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return otherwise;
  }
}
