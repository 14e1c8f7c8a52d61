import { join } from 'node:path';
import { isOid } from '../domain/ids.js';
import type { Oid, RefName } from '../domain/ids.js';
import { readIfThere } from './durable-fs.js';
import type { Fs } from './fs.js';
import { isRefName } from './ref-name-check.js';
import type { RefLock } from './ref-lock.js';

/** The refs that stock git moved into one file. We read it, and rewrite it only to take a ref out. */
export class PackedRefs {
  readonly #fs: Fs;
  readonly #path: string;
  readonly #lock: RefLock;

  constructor(fs: Fs, gitdir: string, lock: RefLock) {
    this.#fs = fs;
    this.#lock = lock;
    this.#path = join(gitdir, 'packed-refs');
  }

  /** Lines that are no ref are left out. */
  async read(): Promise<Map<RefName, Oid>> {
    const refs = new Map<RefName, Oid>();
    for (const line of await this.#lines()) {
      const oid = line.slice(0, 40);
      const name = line.slice(41);
      if (line[40] === ' ' && isOid(oid) && isRefName(name)) refs.set(name, oid);
    }
    return refs;
  }

  /** Under git's own `packed-refs.lock`. */
  async remove(ref: RefName): Promise<void> {
    if (!(await this.read()).has(ref)) return;
    await this.#lock.run(this.#path, async (publish) => {
      const kept: string[] = [];
      let dropping = false;
      for (const line of await this.#lines()) {
        // `^…` belongs to the tag before it.
        if (!line.startsWith('^')) dropping = line.slice(41) === ref;
        if (!dropping) kept.push(`${line}\n`);
      }
      await publish(kept.join(''));
    });
  }

  /** Takes out what is no line of it, which git refuses the whole file for. False where there is nothing of the kind. */
  async mend(): Promise<boolean> {
    if (!(await this.isDamaged())) return false;
    await this.#lock.run(this.#path, async (publish) => {
      const kept = (await this.#lines()).filter(isLine);
      await publish(kept.map((line) => `${line}\n`).join(''));
    });
    return true;
  }

  async isDamaged(): Promise<boolean> {
    return (await this.#lines()).some((line) => !isLine(line));
  }

  async #lines(): Promise<string[]> {
    const bytes = await readIfThere(this.#fs, this.#path);
    return bytes === null
      ? []
      : Buffer.from(bytes)
          .toString('utf8')
          .split('\n')
          .filter((line) => line !== '');
  }
}

/** A comment, a peeled tag, or a ref. */
const isLine = (line: string): boolean => /^(?:#.*|\^[0-9a-f]{40}|[0-9a-f]{40} refs\/[^\s\0]+)$/.test(line);
