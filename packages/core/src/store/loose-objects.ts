import { join } from 'node:path';
import { promisify } from 'node:util';
import { inflate, inflateSync } from 'node:zlib';
import type { GitObject, ObjectType } from '../domain/git-object.js';
import { isOid } from '../domain/ids.js';
import type { Oid } from '../domain/ids.js';
import { smallObjectBytes } from './deflated.js';
import { makeDurableFolder, readIfThere } from './durable-fs.js';
import type { Fs, FsStat } from './fs.js';
import { isErrno } from './fs.js';
import { hashObject, isObjectType } from './object-id.js';

const inflateAsync = promisify(inflate);
/** `blob 12345678901234567890\0` is never longer. */
const maxHeaderBytes = 32;
export interface NewObject {
  oid: Oid;
  type: ObjectType;
  data: Uint8Array;
}

export type LooseRead = GitObject | 'missing' | 'damaged' | 'too large';

/**
 * Objects in files of their own, `objects/ab/cdef…`: what stock git writes into a store. We write none, and remove one
 * only once a pack has it.
 */
export class LooseObjects {
  readonly #fs: Fs;
  readonly #folder: string;

  constructor(fs: Fs, objectsFolder: string) {
    this.#fs = fs;
    this.#folder = objectsFolder;
  }

  /** Inflates no more than `maxBytes` of content. The content is checked against the id. */
  async read(oid: Oid, maxBytes: number): Promise<LooseRead> {
    const file = await readIfThere(this.#fs, this.#path(oid));
    if (file === null) return 'missing';
    let raw: Buffer;
    try {
      // What is read is kept for a while, and with it the whole piece that zlib put it in: usually 16 KB.
      const chunkSize = Math.max(64, Math.min(2 * file.length, 16 * 1024));
      const limit = { maxOutputLength: maxBytes + maxHeaderBytes, chunkSize };
      raw = file.length <= smallObjectBytes ? inflateSync(file, limit) : await inflateAsync(file, limit);
    } catch (error) {
      if (isErrno(error, 'ERR_BUFFER_TOO_LARGE')) return 'too large';
      if (isErrno(error, 'Z_DATA_ERROR', 'Z_BUF_ERROR', 'Z_NEED_DICT', 'ERR_INVALID_ARG_VALUE')) return 'damaged';
      throw error;
    }
    return parseLoose(oid, raw);
  }

  async has(oid: Oid): Promise<boolean> {
    const stat = await this.#fs.stat(this.#path(oid));
    return stat !== null && stat.size > 0;
  }

  async moveTo(oid: Oid, folder: string): Promise<void> {
    await makeDurableFolder(this.#fs, folder);
    await this.#fs.rename(this.#path(oid), join(folder, oid));
  }

  /** Null for one that is not there. */
  async stat(oid: Oid): Promise<FsStat | null> {
    return this.#fs.stat(this.#path(oid));
  }

  async remove(oid: Oid): Promise<void> {
    try {
      await this.#fs.unlink(this.#path(oid));
    } catch (error) {
      // Somebody else's maintenance took it; on Windows one that is being read stays for the next run.
      if (!isErrno(error, 'ENOENT', 'EPERM', 'EBUSY')) throw error;
    }
  }

  async ids(): Promise<Oid[]> {
    const found: Oid[] = [];
    for (const folder of await this.#fs.list(this.#folder)) found.push(...(await this.#idsIn(folder)));
    return found;
  }

  /** The ids that begin with a byte. */
  async idsUnder(byte: number): Promise<Oid[]> {
    return this.#idsIn(byte.toString(16).padStart(2, '0'));
  }

  async #idsIn(folder: string): Promise<Oid[]> {
    if (!/^[0-9a-f]{2}$/.test(folder)) return [];
    return (await this.#fs.list(join(this.#folder, folder))).map((name) => folder + name).filter(isOid);
  }

  #path(oid: Oid): string {
    return join(this.#folder, oid.slice(0, 2), oid.slice(2));
  }
}

function parseLoose(oid: Oid, raw: Buffer): LooseRead {
  const end = raw.subarray(0, maxHeaderBytes).indexOf(0);
  if (end === -1) return 'damaged';
  const [type, size, ...rest] = raw.toString('latin1', 0, end).split(' ');
  const data = raw.subarray(end + 1);
  if (type === undefined || !isObjectType(type) || size !== String(data.length) || rest.length > 0) return 'damaged';
  return hashObject(type, data) === oid ? { type, data } : 'damaged';
}
