import { createHash } from 'node:crypto';
import { MeshError } from '../errors.js';
import { asBuffer } from './as-buffer.js';
import { readIfThere } from './durable-fs.js';
import type { Fs } from './fs.js';
import { isErrno } from './fs.js';

/** What a file holds that is only a cache; null where it is not there, or the disk refuses it. */
export async function readCache(fs: Fs, path: string): Promise<Buffer | null> {
  try {
    const bytes = await readIfThere(fs, path);
    return bytes === null ? null : asBuffer(bytes);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return null;
  }
}

/** A disk that refuses a file that is only a cache fails nobody, who may be about to read and no more. */
export function isRefusal(error: unknown): boolean {
  if (isErrno(error, 'ENOENT', 'ENOTDIR', 'EISDIR')) return true;
  return error instanceof MeshError && ['disk_full', 'read_only', 'store_unusable'].includes(error.errorName);
}

/** By which a cache names what it was made of, in hex. */
export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
