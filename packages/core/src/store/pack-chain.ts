import type { GitObject } from '../domain/git-object.js';
import { BoundedCache } from './bounded-cache.js';
import { applyDelta } from './pack-delta.js';
import type { PackEntry } from './pack-read.js';
import { badPack } from './pack-read.js';

/** git makes chains of 50 and, asked to, of 4,095. */
const maxChain = 4_096;
/** What all the objects of one chain measure: those of a mesh are small. Making it keeps everything else from running. */
const maxChainBytes = 512 * 1024 * 1024;

/** Gives whole objects out of entries that are deltas of one another, keeping what was made last as bases. */
export class DeltaChains {
  readonly #made: BoundedCache<number, GitObject>;
  readonly #entryAt: (offset: number, maxObjectBytes: number) => Promise<PackEntry>;
  readonly #maxObjectBytes: number;
  /** Where the base of a delta by id begins; null where the pack leaves it out. */
  readonly #offsetOf: (base: string) => number | null | Promise<number | null>;
  readonly #onMade: (bytes: number) => void;

  constructor(options: {
    maxCachedBytes: number;
    /** What a base may measure; what stands on it may be held to less. */
    maxObjectBytes: number;
    entryAt: (offset: number, maxObjectBytes: number) => Promise<PackEntry>;
    offsetOf: (base: string) => number | null | Promise<number | null>;
    /** Told the bytes of everything that is made of a delta; may throw. */
    onMade?: (bytes: number) => void;
  }) {
    this.#made = new BoundedCache(options.maxCachedBytes);
    this.#maxObjectBytes = options.maxObjectBytes;
    this.#entryAt = options.entryAt;
    this.#offsetOf = options.offsetOf;
    this.#onMade = options.onMade ?? (() => undefined);
  }

  /**
   * Null where a base is not in the pack (yet).
   * @throws MeshError `protocol_error` for a delta that does not fit, and what `entryAt` throws.
   */
  async object(first: PackEntry | number, maxBytes: number = this.#maxObjectBytes): Promise<GitObject | null> {
    const deltas: PackEntry[] = [];
    let entry: PackEntry | null = typeof first === 'number' ? null : first;
    let at: number = typeof first === 'number' ? first : first.offset;
    for (;;) {
      const known = this.#made.get(at);
      if (known !== undefined) return this.#build(known, deltas);
      entry ??= await this.#entryAt(at, deltas.length === 0 ? maxBytes : this.#maxObjectBytes);
      if (entry.kind !== 'offset delta' && entry.kind !== 'ref delta') {
        const object = { type: entry.kind, data: entry.data };
        this.#keep(at, object);
        return this.#build(object, deltas);
      }
      const base = entry.kind === 'offset delta' ? entry.base : await this.#offsetOf(entry.base);
      if (base === null) return null;
      deltas.push(entry);
      // Deltas by id can go round in a circle.
      if (deltas.length > maxChain) throw badPack(`more than ${maxChain} deltas stand on one another`);
      at = base;
      entry = null;
    }
  }

  #build(base: GitObject, deltas: readonly PackEntry[]): GitObject {
    let object = base;
    let bytes = 0;
    // The last that was met stands on the base.
    for (const { offset, data } of [...deltas].reverse()) {
      object = { type: object.type, data: applyDelta(object.data, data) };
      bytes += object.data.length;
      if (bytes > maxChainBytes) throw badPack(`a chain of deltas makes more than ${maxChainBytes} bytes`);
      this.#onMade(object.data.length);
      this.#keep(offset, object);
    }
    return object;
  }

  #keep(offset: number, object: GitObject): void {
    this.#made.set(offset, object, object.data.length + 200);
  }
}
