import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { Fs, FsFile } from './fs.js';
import { isErrno } from './fs.js';

/** `tmp_` is what git itself takes for a leftover in its object folders, and prunes. */
const temporaryPrefix = 'tmp_mesh_';
const leftoverAfterMs = 10 * 60_000;

/** A name in `folder` that nothing else has. What a crash leaves under it, {@link sweepTemporary} removes. */
export function temporaryPath(folder: string): string {
  return join(folder, `${temporaryPrefix}${process.pid}_${randomUUID()}`);
}

const temporaryName = new RegExp(`${temporaryPrefix}\\w[\\w-]*`, 'g');

/** A text with paths for people: no temporary file's own name, which says nothing and is gone by then. */
export function withoutTemporaryNames(text: string): string {
  return text.replace(temporaryName, 'a new file').replace(/\.tmp-[0-9a-f]{12}\b|\.[0-9a-f]{12}\.tmp\b/g, '');
}

/** A temporary file with its bytes, still open. */
export interface OpenTemporary {
  path: string;
  file: FsFile;
}

/**
 * A temporary file with these bytes, left open so that several can be synced together: a file made while another one is
 * being flushed waits for the whole flush. On failure no file is left.
 */
export async function openTemporary(
  fs: Fs,
  folder: string,
  bytes: Uint8Array,
  options: { mode?: number } = {},
): Promise<OpenTemporary> {
  const path = temporaryPath(folder);
  const file = await fs.open(path, 'new', options.mode);
  try {
    await file.write(bytes);
    return { path, file };
  } catch (error) {
    await file.close();
    await discard(fs, path);
    throw error;
  }
}

/** A temporary file with these bytes. With `sync` they are on the disk when this resolves; on failure no file is left. */
export async function writeTemporary(
  fs: Fs,
  folder: string,
  bytes: Uint8Array,
  options: { sync: boolean; mode?: number },
): Promise<string> {
  const { path, file } = await openTemporary(fs, folder, bytes, options);
  try {
    try {
      if (options.sync) await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    await discard(fs, path);
    throw error;
  }
  return path;
}

/** Removes a temporary file on the way out of a failure, which is the error to report. */
export async function discard(fs: Fs, path: string): Promise<void> {
  try {
    await fs.unlink(path);
  } catch {
    // Whatever kept the file from being written may keep it from being removed: the sweep takes it later.
  }
}

/**
 * Replaces the file at `path`, atomically and durably: other processes see the old content or the new, and so does
 * everyone after a power cut. The folder must exist.
 */
export async function writeDurable(
  fs: Fs,
  path: string,
  bytes: Uint8Array,
  options: { mode?: number } = {},
): Promise<void> {
  await replace(fs, path, bytes, { ...options, sync: true });
  await fs.syncFolder(dirname(path));
}

/** {@link writeDurable} of bytes that come bit by bit. On failure, that of `parts` too, the old file stands. */
export async function writeDurableFrom(
  fs: Fs,
  path: string,
  parts: AsyncIterable<Uint8Array>,
  { mode }: { mode?: number } = {},
): Promise<void> {
  const temporary = temporaryPath(dirname(path));
  const file = await fs.open(temporary, 'new', mode);
  try {
    try {
      for await (const part of parts) await file.write(part);
      await file.sync();
    } finally {
      await file.close();
    }
    await fs.rename(temporary, path);
  } catch (error) {
    await discard(fs, temporary);
    throw error;
  }
  await fs.syncFolder(dirname(path));
}

/** Like {@link writeDurable}, but a power cut may bring the old content back (or leave an empty file). */
export async function writeAtomic(fs: Fs, path: string, bytes: Uint8Array): Promise<void> {
  await replace(fs, path, bytes, { sync: false });
}

async function replace(
  fs: Fs,
  path: string,
  bytes: Uint8Array,
  options: { sync: boolean; mode?: number },
): Promise<void> {
  const temporary = await writeTemporary(fs, dirname(path), bytes, options);
  try {
    await fs.rename(temporary, path);
  } catch (error) {
    await discard(fs, temporary);
    throw error;
  }
}

/** Makes a folder with its parents, durably. */
export async function makeDurableFolder(fs: Fs, path: string): Promise<void> {
  const topmost = await fs.makeFolder(path);
  if (topmost === null) return;
  for (let folder = dirname(path); folder.length >= dirname(topmost).length; folder = dirname(folder)) {
    await fs.syncFolder(folder);
    if (folder === dirname(folder)) break;
  }
}

/** Removes what crashed writers left in `folder`: temporary files and folders older than 10 minutes. Gives their number. */
export async function sweepTemporary(fs: Fs, folder: string): Promise<number> {
  let removed = 0;
  for (const name of await fs.list(folder)) {
    if (!name.startsWith(temporaryPrefix)) continue;
    const path = join(folder, name);
    const stat = await fs.stat(path);
    // File times are compared with the system's clock, which set them.
    if (stat === null || Date.now() - stat.mtimeMs < leftoverAfterMs) continue;
    await fs.removeAll(path);
    removed += 1;
  }
  return removed;
}

/** The file's bytes, or null where no file is. */
export async function readIfThere(fs: Fs, path: string): Promise<Uint8Array | null> {
  try {
    return await fs.readFile(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  }
}
