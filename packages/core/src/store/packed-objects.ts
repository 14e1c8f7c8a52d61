import { join } from 'node:path';
import type { GitObject } from '../domain/git-object.js';
import type { Oid } from '../domain/ids.js';
import { MeshError } from '../errors.js';
import { asBuffer } from './as-buffer.js';
import { BoundedCache } from './bounded-cache.js';
import type { Fs } from './fs.js';
import { isErrno } from './fs.js';
import { hashObject } from './object-id.js';
import { DeltaChains } from './pack-chain.js';
import type { PackIndexes, PackPlace } from './pack-index.js';
import type { PackEntry } from './pack-read.js';
import { readEntry } from './pack-read.js';

/** Objects that are read together mostly stand together: packs are read in pieces of this size. */
const windowBytes = 128 * 1024;
const maxWindows = 24 * 1024 * 1024;
const maxBases = 32 * 1024 * 1024;
const maxChains = 4;
const maxBaseBytes = 64 * 1024 * 1024;
const trailerBytes = 20;

/**
 * Objects out of packs, with memory for a part of each pack at a time. Nothing is held open, so a repack may take a pack
 * away at any time: a read then gives null, and the caller looks at the indexes anew.
 */
export class PackedObjects {
  readonly #fs: Fs;
  readonly #folder: string;
  readonly #indexes: PackIndexes;
  readonly #windows = new BoundedCache<string, Uint8Array>(maxWindows);
  readonly #chains = new Map<string, DeltaChains>();

  constructor(fs: Fs, packFolder: string, indexes: PackIndexes) {
    this.#fs = fs;
    this.#folder = packFolder;
    this.#indexes = indexes;
  }

  /** Forgets what packs hold: one of the same name may have other content after a repack. */
  dropCache(): void {
    this.#chains.clear();
    this.#windows.clear();
  }

  /** Checked against its id. Null where it cannot be read from there: the pack went away or is damaged. */
  async read(oid: Oid, place: PackPlace, maxObjectBytes: number): Promise<GitObject | 'too large' | null> {
    try {
      const object = await this.#chainsOf(place.pack).object(place.offset, maxObjectBytes);
      return object !== null && hashObject(object.type, object.data) === oid ? object : null;
    } catch (error) {
      if (error instanceof MeshError && error.errorName === 'payload_too_large') return 'too large';
      if (error instanceof MeshError && error.errorName === 'protocol_error') return null;
      if (isErrno(error, 'ENOENT')) return null;
      throw error;
    }
  }

  #chainsOf(pack: string): DeltaChains {
    const known = this.#chains.get(pack);
    if (known !== undefined) return known;
    // The packs that are read at the same time are few; the others' bases are not worth their memory.
    if (this.#chains.size >= maxChains) this.#chains.clear();
    const chains = new DeltaChains({
      maxCachedBytes: maxBases / maxChains,
      maxObjectBytes: maxBaseBytes,
      entryAt: (offset, maxObjectBytes) => this.#entryAt(pack, offset, maxObjectBytes),
      offsetOf: (base) => this.#indexes.known(base, pack)?.offset ?? null,
    });
    this.#chains.set(pack, chains);
    return chains;
  }

  async #entryAt(pack: string, offset: number, maxObjectBytes: number): Promise<PackEntry> {
    const place = this.#indexes.at(pack, offset);
    if (place === null) throw new MeshError('protocol_error', `no object of ${pack} begins at byte ${offset}`);
    const bytes = await this.#bytes(pack, offset, place.next);
    return readEntry(bytes, { at: 0 }, { end: bytes.length, offset, maxObjectBytes });
  }

  async #bytes(pack: string, from: number, to: number | null): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    for (let at = from; to === null || at < to;) {
      const number = Math.floor(at / windowBytes);
      const window = await this.#window(pack, number);
      const begin = at - number * windowBytes;
      const part = window.subarray(begin, to === null ? undefined : to - number * windowBytes);
      parts.push(part);
      at += part.length;
      if (number * windowBytes + window.length < (number + 1) * windowBytes) break;
    }
    const bytes = parts.length === 1 && parts[0] !== undefined ? asBuffer(parts[0]) : Buffer.concat(parts);
    return to === null ? bytes.subarray(0, -trailerBytes) : bytes;
  }

  async #window(pack: string, number: number): Promise<Uint8Array> {
    const key = `${pack} ${number}`;
    const known = this.#windows.get(key);
    if (known !== undefined) return known;
    const file = await this.#fs.open(join(this.#folder, `${pack}.pack`), 'read');
    try {
      const window = await file.read(number * windowBytes, windowBytes);
      this.#windows.set(key, window, window.length + 100);
      return window;
    } finally {
      await file.close();
    }
  }
}
