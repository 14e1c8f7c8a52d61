import { join } from 'node:path';
import { isOid } from '../domain/ids.js';
import type { Oid } from '../domain/ids.js';
import { discard, readIfThere } from './durable-fs.js';
import type { Fs } from './fs.js';
import { RefLock } from './ref-lock.js';

const none: ReadonlySet<Oid> = new Set<Oid>();

/**
 * git's own `shallow` file: the commits at which the history that is here ends. Their parents may be missing, and git
 * takes each for a first commit. What it names may be missing too: so it is written before the commits come.
 */
export class ShallowFile {
  readonly #fs: Fs;
  readonly #path: string;
  readonly #lock: RefLock;
  #known: { stamp: string; edges: ReadonlySet<Oid> } | null = null;

  constructor(fs: Fs, gitdir: string) {
    this.#fs = fs;
    this.#path = join(gitdir, 'shallow');
    this.#lock = new RefLock(fs, join(gitdir, 'mesh'));
  }

  /** As they are on the disk now; cheap while nobody changes them. A line that git could not read either is left out. */
  async read(): Promise<ReadonlySet<Oid>> {
    const stat = await this.#fs.stat(this.#path);
    if (stat === null) return none;
    const stamp = [stat.mtimeMs, stat.size, stat.inode].join();
    if (this.#known?.stamp === stamp) return this.#known.edges;
    const text = Buffer.from((await readIfThere(this.#fs, this.#path)) ?? []).toString('latin1');
    const edges = new Set(text.split('\n').filter((line) => isOid(line)));
    this.#known = { stamp, edges };
    return edges;
  }

  /** Atomic and durable, under git's own lock on the file. @throws MeshError `locked`. */
  async move({ add = [], remove = [] }: { add?: Iterable<Oid>; remove?: Iterable<Oid> }): Promise<void> {
    await this.#lock.run(this.#path, async (publish) => {
      const before = await this.read();
      const next = new Set([...before, ...add]);
      for (const oid of remove) next.delete(oid);
      if (next.size === before.size && [...next].every((oid) => before.has(oid))) return;
      this.#known = null;
      // An empty one would make git take the repository for a shallow one still.
      if (next.size > 0) await publish([...next].map((oid) => `${oid}\n`).join(''));
      else await this.#remove();
    });
  }

  async #remove(): Promise<void> {
    await discard(this.#fs, this.#path);
    await this.#fs.syncFolder(join(this.#path, '..'));
  }
}
