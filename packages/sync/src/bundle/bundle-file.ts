import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { MeshError, errnoOf } from '@git-mesh/core';
import { signatures } from './header.js';

/** The bytes of a bundle on the disk. @throws MeshError as {@link fileError} says, when it is read. */
export async function* bundleBytes(file: string): AsyncGenerator<Uint8Array, void> {
  try {
    for await (const part of createReadStream(file, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) yield part;
  } catch (error) {
    throw fileError(error, file, 'read');
  }
}

/**
 * The path of a file that says it is a bundle, by its name or, where it is there, by its first bytes; null for anything else, as a
 * repository, a URL or a folder.
 */
export async function bundlePath(typed: string): Promise<string | null> {
  const path = localPath(typed);
  if (path === null) return null;
  try {
    if (!(await stat(path)).isFile()) return null;
    if (path.endsWith('.bundle')) return path;
    const file = await open(path, 'r');
    try {
      const length = signatures[0]?.length ?? 0;
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
      return signatures.includes(buffer.toString('latin1', 0, bytesRead)) ? path : null;
    } finally {
      await file.close();
    }
  } catch (error) {
    // What is called a bundle and cannot be read is told as one; else whoever takes it for a repository says so.
    if (errnoOf(error) !== undefined) return path.endsWith('.bundle') && !typed.includes(':') ? path : null;
    throw error;
  }
}

function localPath(typed: string): string | null {
  if (!typed.startsWith('file:')) return typed;
  try {
    return fileURLToPath(typed);
  } catch {
    // A host in it, or an encoded slash: no file of this machine.
    return null;
  }
}

/** What a person can mend about a file of theirs; any other error as it is. */
export function fileError(error: unknown, file: string, what: 'read' | 'written'): unknown {
  const code = errnoOf(error);
  const options = { data: { file }, cause: error };
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new MeshError('not_found', `${file} cannot be ${what}: there is no such file or folder`, options);
    case 'EISDIR':
      return new MeshError('invalid_argument', `${file} is a folder: expected the path of a file`, options);
    case 'ENAMETOOLONG':
      return new MeshError('invalid_argument', `${file} cannot be ${what}: its name is too long for the disk`, options);
    case 'EACCES':
    case 'EPERM':
      return new MeshError('forbidden', `${file} cannot be ${what} by this user (${code}): check its mode`, options);
    case 'EROFS':
      return new MeshError('read_only', `${file} cannot be written: its disk is read-only`, options);
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return new MeshError('disk_full', `${file} cannot be written (${code}): there is no room for it`, options);
    case 'EIO':
      return new MeshError('store_unusable', `${file} cannot be ${what}: its disk failed (EIO)`, options);
    default:
      return error;
  }
}
