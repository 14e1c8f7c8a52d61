import { join } from 'node:path';
import { isOid } from '../domain/ids.js';
import type { Oid } from '../domain/ids.js';
import { MeshError } from '../errors.js';
import { discard, readIfThere, writeAtomic } from './durable-fs.js';
import type { Fs } from './fs.js';
import { isErrno } from './fs.js';

/** Enough to find the packs they stood in. */
const maxNoted = 1_000;
const searchedMark = 'searched';

/**
 * Objects that were found damaged or missing, in `mesh/lost-objects`: whoever opens the store next puts the damaged files
 * aside, and the next exchange with a remote fetches everything again. The file may be empty: something is lost whose id
 * is not known.
 */
export class LostObjects {
  readonly #fs: Fs;
  readonly #file: string;

  constructor(fs: Fs, meshFolder: string) {
    this.#fs = fs;
    this.#file = join(meshFolder, 'lost-objects');
  }

  /** Null where nothing is known to be lost. */
  async read(): Promise<Oid[] | null> {
    const bytes = await readIfThere(this.#fs, this.#file);
    return bytes === null ? null : Buffer.from(bytes).toString('latin1').split('\n').filter(isOid);
  }

  /** Notes more of them. A disk that takes nothing is no reason for whoever found them to fail otherwise. */
  async note(oids: readonly Oid[]): Promise<void> {
    try {
      const before = await this.read();
      const known = new Set(before ?? []);
      if (before !== null && (oids.every((oid) => known.has(oid)) || known.size >= maxNoted)) return;
      for (const oid of oids.slice(0, maxNoted)) known.add(oid);
      await this.#write([...known]);
    } catch (error) {
      if (!(error instanceof MeshError) && !isErrno(error, 'ENOENT')) throw error;
    }
  }

  /** Whether the store is to be searched for more: not again before something new is found. */
  async isToBeSearched(): Promise<boolean> {
    const bytes = await readIfThere(this.#fs, this.#file);
    return bytes !== null && !Buffer.from(bytes).toString('latin1').startsWith(searchedMark);
  }

  /** It was, just now. */
  async searched(): Promise<void> {
    const oids = await this.read();
    if (oids !== null) await this.#write([searchedMark, ...oids]);
  }

  async #write(lines: readonly string[]): Promise<void> {
    await writeAtomic(this.#fs, this.#file, Buffer.from(lines.map((line) => `${line}\n`).join('')));
  }

  /** All of them are back. */
  async clear(): Promise<void> {
    await discard(this.#fs, this.#file);
  }
}
