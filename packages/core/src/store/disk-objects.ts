import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GitObject } from '../domain/git-object.js';
import type { Oid } from '../domain/ids.js';
import type { Fs } from './fs.js';
import { GitEngine } from './git-engine.js';
import { LooseObjects } from './loose-objects.js';
import type { LooseRead } from './loose-objects.js';
import { PackIndexes } from './pack-indexes.js';
import { PackedObjects } from './packed-objects.js';

const readTries = 4;
/** Enough for a repack to get on. */
const maxLooks = 10;
/** Values of the first byte of an id. */
const firstBytes = 256;

/** The objects of a bare repository's `objects` folder as they lie on the disk, loose and in packs, whoever repacks them meanwhile. */
export class DiskObjects {
  readonly loose: LooseObjects;
  readonly packs: PackIndexes;
  readonly packed: PackedObjects;
  readonly #engine: GitEngine;
  /** What is asked for mostly lies like what was asked for before: a store has packs, a shared repository loose objects. */
  #isPackFirst = true;

  constructor(fs: Fs, gitdir: string) {
    const folder = join(gitdir, 'objects');
    this.#engine = new GitEngine(gitdir);
    this.loose = new LooseObjects(fs, folder);
    this.packs = new PackIndexes(fs, join(folder, 'pack'));
    this.packed = new PackedObjects(fs, join(folder, 'pack'), this.packs);
  }

  async has(oid: Oid): Promise<boolean> {
    if (this.#isPackFirst && (await this.packs.known(oid)) !== null) return true;
    return (await this.loose.has(oid)) || (await this.packs.has(oid)) || (await this.loose.has(oid));
  }

  async read(oid: Oid, maxBytes: number): Promise<LooseRead> {
    const known = this.#isPackFirst ? await this.#fromKnownPack(oid, maxBytes) : null;
    if (known !== null) return known;
    const loose = await this.loose.read(oid, maxBytes);
    this.#isPackFirst = loose === 'missing' || loose === 'damaged';
    if (loose !== 'missing' && loose !== 'damaged') return loose;
    const packed = await this.#fromPacks(oid, maxBytes);
    if (packed !== 'missing') return packed;
    // Whatever unpacked it meanwhile wrote it before it removed the pack.
    return loose === 'missing' ? this.loose.read(oid, maxBytes) : loose;
  }

  /** Each once, with memory for a small part of them at a time. */
  async *ids(): AsyncGenerator<Oid> {
    for (let byte = 0; byte < firstBytes; byte++) yield* await this.#idsUnder(byte);
  }

  /** Looks at everything anew. */
  async forget(): Promise<void> {
    this.packs.clear();
    this.packed.dropCache();
    this.#engine.dropCache();
    await this.packs.refresh();
  }

  async #idsUnder(byte: number): Promise<Set<Oid>> {
    const found = new Set<Oid>();
    // An object may go from a file of its own into a pack, or back: until nothing changed while both were looked at.
    for (let looks = 0; looks < maxLooks; looks++) {
      const before = await this.packs.refresh();
      for (const oid of await this.loose.idsUnder(byte)) found.add(oid);
      const packed = await this.packs.ids(byte);
      if (packed === 'gone') continue;
      for (const oid of packed) found.add(oid);
      if (before === (await this.packs.refresh())) break;
    }
    return found;
  }

  /** Null where another copy is to be looked for. */
  async #fromKnownPack(oid: Oid, maxBytes: number): Promise<GitObject | 'too large' | null> {
    const place = await this.packs.known(oid);
    return place === null ? null : this.packed.read(oid, place, maxBytes);
  }

  async #fromPacks(oid: Oid, maxBytes: number): Promise<LooseRead> {
    for (let tries = 1; ; tries++) {
      const first = await this.packs.find(oid);
      if (first === null) return 'missing';
      const found = await this.packed.read(oid, first, maxBytes);
      if (found !== null) return found;
      // A pack that is damaged or gone must not hide the copy in another one.
      for (const place of await this.packs.places(oid)) {
        const copy = place.pack === first.pack ? null : await this.packed.read(oid, place, maxBytes);
        if (copy !== null) return copy;
      }
      // A pack that a repack removed looks like a damaged one until it is looked at anew.
      this.packed.dropCache();
      if (tries >= readTries) return this.#byEngine(oid);
      // A repack that is under way gets on meanwhile: its files are renamed one after the other.
      await sleep(2 * 4 ** (tries - 1));
      await this.packs.refresh();
    }
  }

  /** A second opinion before an object is called damaged: it also knows forms of packs that we never make. */
  async #byEngine(oid: Oid): Promise<LooseRead> {
    this.#engine.dropCache();
    try {
      return await this.#engine.read(oid);
    } catch (error) {
      // Its errors are of many kinds.
      if (!(error instanceof Error)) throw error;
      return 'damaged';
    }
  }
}
