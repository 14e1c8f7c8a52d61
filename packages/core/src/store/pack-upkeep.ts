import type { DiskObjects } from './disk-objects.js';
import { densify, replacePacks } from './densify.js';
import type { Densified, DensifyBounds } from './densify.js';
import type { Fs } from './fs.js';
import { gatherLoose } from './loose-gather.js';
import type { GatherBounds } from './loose-gather.js';
import type { KnownPacks } from './pack-classes.js';
import { consolidatePacks, packsToJoin } from './pack-consolidate.js';
import { publishPack } from './pack-publish.js';
import type { PackFiles } from './pack-write.js';

/** So many packs of ours are noted before the folder is asked which of them are there still: others may have joined them. */
const packsBetweenLooks = 64;

/** Puts packs into a store's folder and keeps them few, and what is known of them up to date. */
export class PackUpkeep {
  readonly #fs: Fs;
  readonly #folder: string;
  readonly #disk: DiskObjects;
  readonly #known: KnownPacks = new Map();
  #addedPacks = 0;

  constructor(fs: Fs, packFolder: string, disk: DiskObjects) {
    this.#fs = fs;
    this.#folder = packFolder;
    this.#disk = disk;
  }

  /** Durable when it resolves. */
  async publish(files: PackFiles): Promise<void> {
    await publishPack(this.#fs, this.#folder, files);
    this.#disk.packs.add(files.name, files.index);
    this.#addedPacks += 1;
    if (this.#addedPacks >= packsBetweenLooks) await this.#forgetGonePacks();
  }

  async isScattered(): Promise<boolean> {
    return (await packsToJoin(this.#fs, this.#folder, this.#known)) !== null;
  }

  /** Gives whether there was anything to join. */
  async consolidate(): Promise<boolean> {
    const made = await consolidatePacks(this.#fs, this.#folder, this.#known);
    await this.#took(made);
    return made !== null;
  }

  async gather(bounds: GatherBounds): Promise<boolean> {
    const { loose, packs, packed } = this.#disk;
    return gatherLoose({ fs: this.#fs, packFolder: this.#folder, loose, packs, packed }, bounds);
  }

  async densify(bounds: DensifyBounds): Promise<Densified | null> {
    return densify(this.#fs, this.#folder, { known: this.#known, ...bounds });
  }

  async replace(densified: Densified): Promise<void> {
    await replacePacks(this.#fs, this.#folder, { densified, known: this.#known });
    await this.#took(densified.made);
  }

  /** What is known of the packs that were joined goes with them: who finds all that it asks for would keep it for ever. */
  async #took(made: PackFiles | null): Promise<void> {
    if (made === null) return;
    this.#disk.packs.add(made.name, made.index);
    this.#disk.packed.dropCache();
    await this.#forgetGonePacks();
  }

  async #forgetGonePacks(): Promise<void> {
    this.#addedPacks = 0;
    await this.#disk.packs.refresh();
  }
}
