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
import type { PackIndexes, PackPlace } from './pack-indexes.js';
import type { PackEntry } from './pack-read.js';
import { badPack, readEntry, readHead } from './pack-read.js';

/** Objects that are read together mostly stand together: packs are read in pieces of this size. */
const windowBytes = 128 * 1024;
const maxWindows = 24 * 1024 * 1024;
const maxBases = 32 * 1024 * 1024;
const maxChains = 4;
const maxBaseBytes = 64 * 1024 * 1024;
const packHeaderBytes = 12;
/** More than what stands before the deflated content of any entry. */
const maxHeadBytes = 64;

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
      offsetOf: (base) => this.#indexes.knownIn(base, pack),
    });
    this.#chains.set(pack, chains);
    return chains;
  }

  /** Where it ends is not known before it is inflated: as much is read as content of its size can take. */
  async #entryAt(pack: string, offset: number, maxObjectBytes: number): Promise<PackEntry> {
    if (offset < packHeaderBytes) throw badPack(`no object begins at byte ${offset}`);
    let bytes = await this.#bytes(pack, offset, maxHeadBytes);
    const cursor = { at: 0 };
    const { size } = readHead(bytes, cursor, { end: bytes.length, offset });
    const needed = cursor.at + maxDeflated(size);
    if (size <= maxObjectBytes && bytes.length < needed) bytes = await this.#bytes(pack, offset, needed);
    return readEntry(bytes, { at: 0 }, { end: bytes.length, offset, maxObjectBytes });
  }

  /** At least so many bytes, or all up to the end of the pack. */
  async #bytes(pack: string, from: number, length: number): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    for (let at = from; at < from + length;) {
      const number = Math.floor(at / windowBytes);
      const window = await this.#window(pack, number);
      parts.push(window.subarray(at - number * windowBytes));
      if (window.length < windowBytes) break;
      at = (number + 1) * windowBytes;
    }
    return parts.length === 1 && parts[0] !== undefined ? asBuffer(parts[0]) : Buffer.concat(parts);
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

/** zlib's own bound for any of its settings. */
function maxDeflated(size: number): number {
  return size + Math.ceil(size / 8) + Math.ceil(size / 64) + 32;
}
