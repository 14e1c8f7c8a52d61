import { join } from 'node:path';
import { promisify } from 'node:util';
import { inflate, inflateSync } from 'node:zlib';
import type { GitObject, ObjectType } from '../domain/git-object.js';
import type { Oid } from '../domain/ids.js';
import { deflated, smallObjectBytes } from './deflated.js';
import { discard, openTemporary, readIfThere } from './durable-fs.js';
import type { OpenTemporary } from './durable-fs.js';
import type { Fs } from './fs.js';
import { isErrno } from './fs.js';
import { hashObject, isObjectType, objectHeader } from './object-id.js';

const inflateAsync = promisify(inflate);
/** `blob 12345678901234567890\0` is never longer. */
const maxHeaderBytes = 32;
/** How many files are written at once. */
const writersAtOnce = 16;

export interface NewObject {
  oid: Oid;
  type: ObjectType;
  data: Uint8Array;
}

/** An object whose bytes are on the disk, under a temporary name. */
interface Written {
  oid: Oid;
  temporary: string;
}

export type LooseRead = GitObject | 'missing' | 'damaged' | 'too large';

/** Objects in files of their own, `objects/ab/cdef…`. */
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

  /**
   * Writes the objects that are not there (or damaged there) and resolves once all are durable. They appear in the order
   * given, so that whoever names objects after what they need never shows one with a missing part.
   */
  async write(objects: readonly NewObject[]): Promise<void> {
    const absent = await inBatches(objects, async (object) => ((await this.#isIntact(object)) ? [] : [object]));
    const written: Written[] = [];
    try {
      for (const group of groups(absent.flat(), writersAtOnce)) written.push(...(await this.#writeGroup(group)));
    } catch (error) {
      await Promise.all(written.map(({ temporary }) => discard(this.#fs, temporary)));
      throw error;
    }
    await this.#publish(written, absent.flat());
  }

  /** Do not interleave: all files are made before the first is synced (see {@link openTemporary}). */
  async #writeGroup(group: readonly NewObject[]): Promise<Written[]> {
    const open: (OpenTemporary & { oid: Oid })[] = [];
    try {
      for (const { oid, type, data } of group) {
        const bytes = await deflated(Buffer.concat([objectHeader(type, data.length), data]));
        open.push({ oid, ...(await openTemporary(this.#fs, this.#folder, bytes, { mode: 0o444 })) });
      }
      await inBatches(open, ({ file }) => file.sync());
    } catch (error) {
      await Promise.allSettled(open.map(({ file }) => file.close()));
      await Promise.all(open.map(({ path }) => discard(this.#fs, path)));
      throw error;
    }
    await inBatches(open, ({ file }) => file.close());
    return open.map(({ oid, path }) => ({ oid, temporary: path }));
  }

  async #publish(written: readonly Written[], inOrder: readonly NewObject[]): Promise<void> {
    const temporaries = new Map(written.map(({ oid, temporary }) => [oid, temporary]));
    const folders = new Set<string>();
    try {
      // Do not reorder: one after the other, and a folder's own entry is synced before anything in it counts.
      for (const { oid } of inOrder) {
        const temporary = temporaries.get(oid);
        if (temporary === undefined) continue;
        const folder = join(this.#folder, oid.slice(0, 2));
        if (await this.#renameInto(folder, temporary, this.#path(oid))) folders.add(this.#folder);
        folders.add(folder);
        temporaries.delete(oid);
      }
    } catch (error) {
      await Promise.all([...temporaries.values()].map((temporary) => discard(this.#fs, temporary)));
      throw error;
    }
    await Promise.all([...folders].map((folder) => this.#fs.syncFolder(folder)));
  }

  /** True when the folder had to be made. */
  async #renameInto(folder: string, temporary: string, path: string): Promise<boolean> {
    try {
      await this.#fs.rename(temporary, path);
      return false;
    } catch (error) {
      if (!isErrno(error, 'ENOENT')) throw error;
    }
    await this.#fs.makeFolder(folder);
    await this.#fs.rename(temporary, path);
    return true;
  }

  /** A file that a power cut left empty or cut is not taken for the object: it is written again. */
  async #isIntact({ oid, data }: NewObject): Promise<boolean> {
    if ((await this.#fs.stat(this.#path(oid))) === null) return false;
    return typeof (await this.read(oid, data.length)) === 'object';
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

function* groups<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}

async function inBatches<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const group of groups(items, writersAtOnce)) {
    // All of a batch end before a failure is thrown, so that no write is under way when the caller tidies up.
    const settled = await Promise.allSettled(group.map(work));
    for (const result of settled) {
      if (result.status === 'rejected') throw result.reason;
      results.push(result.value);
    }
  }
  return results;
}
