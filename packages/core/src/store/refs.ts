import { dirname, join } from 'node:path';
import { isOid } from '../domain/ids.js';
import type { Oid, RefName } from '../domain/ids.js';
import { MeshError } from '../errors.js';
import { makeDurableFolder, readIfThere } from './durable-fs.js';
import type { Fs } from './fs.js';
import { isErrno } from './fs.js';
import { PackedRefs } from './packed-refs.js';
import type { Refs } from './ports.js';
import { RefLock } from './ref-lock.js';
import { checkRefName, isRefName } from './ref-name-check.js';

const maxSymbolicSteps = 5;
const maxDepth = 20;

/** {@link Refs} as files of a bare repository. */
export class StoreRefs implements Refs {
  readonly #fs: Fs;
  readonly #gitdir: string;
  readonly #lock: RefLock;
  readonly #packed: PackedRefs;

  constructor(fs: Fs, gitdir: string) {
    this.#fs = fs;
    this.#gitdir = gitdir;
    this.#lock = new RefLock(fs, join(gitdir, 'mesh'));
    this.#packed = new PackedRefs(fs, gitdir, this.#lock);
  }

  async read(ref: RefName): Promise<Oid | null> {
    let name: string = ref;
    for (let step = 0; step < maxSymbolicSteps; step++) {
      checkRefName(name);
      const found = await this.#readOnce(name as RefName);
      if (found === null || isOid(found)) return found;
      name = found.slice('ref: '.length);
    }
    throw new MeshError('store_damaged', `${ref} points at other refs in a circle: see git symbolic-ref in the store`);
  }

  async list(prefix: string): Promise<{ ref: RefName; oid: Oid }[]> {
    const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
    if (prefix.includes('..') || (!folder.startsWith('refs/') && folder !== '')) return [];
    const names = new Set<RefName>();
    const looseFirst = await this.#looseNames(folder === '' ? 'refs/' : folder, 0);
    const packed = await this.#packed.read();
    for (const name of [...looseFirst, ...packed.keys()]) if (name.startsWith(prefix)) names.add(name);
    const refs: { ref: RefName; oid: Oid }[] = [];
    for (const ref of [...names].sort()) {
      const oid = await this.#readListed(ref, packed);
      if (oid !== null) refs.push({ ref, oid });
    }
    return refs;
  }

  /** Null also for one that cannot be read: it must not hide the others. Whoever reads it alone is told. */
  async #readListed(ref: RefName, packed: ReadonlyMap<RefName, Oid>): Promise<Oid | null> {
    try {
      const loose = await this.#readLoose(ref);
      if (loose === null) return packed.get(ref) ?? (await this.read(ref));
      return isOid(loose) ? loose : await this.read(ref);
    } catch (error) {
      if (error instanceof MeshError && error.errorName === 'store_damaged') return null;
      throw error;
    }
  }

  async unreadable(prefix: string): Promise<RefName[]> {
    const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
    const found: RefName[] = [];
    for (const ref of await this.#looseNames(folder, 0)) if (await this.#isUnreadable(ref)) found.push(ref);
    return found.sort();
  }

  async replaceUnreadable(ref: RefName, next: Oid | null): Promise<void> {
    const path = join(this.#gitdir, ref);
    await this.#lock.run(path, async (publish) => {
      if (!(await this.#isUnreadable(ref))) return;
      if (next !== null) return publish(`${next}\n`);
      await this.#fs.unlink(path);
      await this.#fs.syncFolder(dirname(path));
    });
  }

  async isPackedDamaged(): Promise<boolean> {
    return this.#packed.isDamaged();
  }

  async mendPacked(): Promise<boolean> {
    return this.#packed.mend();
  }

  async #isUnreadable(ref: RefName): Promise<boolean> {
    try {
      await this.#readLoose(ref);
      return false;
    } catch (error) {
      if (error instanceof MeshError && error.errorName === 'store_damaged') return true;
      throw error;
    }
  }

  async update(ref: RefName, change: { expected: Oid | null; next: Oid | null }): Promise<void> {
    checkRefName(ref);
    const path = join(this.#gitdir, ref);
    await this.#makeRoom(ref, path, change);
    await this.#lock.run(path, async (publish) => {
      const current = await this.#readOnce(ref);
      if (current !== change.expected) throw await this.#conflict(ref, change.expected, current);
      if (change.next !== null) await this.#publish(ref, path, () => publish(`${change.next ?? ''}\n`));
      else if (current !== null) await this.#remove(ref, path);
    });
  }

  async #publish(ref: RefName, path: string, rename: () => Promise<void>): Promise<void> {
    if ((await this.#fs.stat(path))?.kind === 'folder') await this.#removeEmptyFolders(ref, path);
    await rename();
  }

  async #remove(ref: RefName, path: string): Promise<void> {
    // Do not reorder: with the loose ref gone first, a reader would see the older packed value.
    await this.#packed.remove(ref);
    try {
      await this.#fs.unlink(path);
    } catch (error) {
      // It was only packed.
      if (!isErrno(error, 'ENOENT')) throw error;
    }
    await this.#fs.syncFolder(dirname(path));
  }

  /** Makes the ref's folder, and refuses a ref that could not stand beside those that are there. */
  async #makeRoom(ref: RefName, path: string, change: { expected: Oid | null; next: Oid | null }): Promise<void> {
    if (change.expected === null && change.next !== null) {
      for (const other of (await this.#packed.read()).keys()) {
        if (other.startsWith(`${ref}/`) || ref.startsWith(`${other}/`)) throw inTheWay(ref, other);
      }
    }
    try {
      await makeDurableFolder(this.#fs, dirname(path));
    } catch (error) {
      if (isErrno(error, 'ENOTDIR', 'EEXIST')) throw inTheWay(ref, dirname(ref));
      throw error;
    }
  }

  async #removeEmptyFolders(ref: RefName, path: string): Promise<void> {
    const names = await this.#fs.list(path);
    for (const name of names) {
      const inner = join(path, name);
      if ((await this.#fs.stat(inner))?.kind !== 'folder') throw inTheWay(ref, `${ref}/${name}`);
      await this.#removeEmptyFolders(ref, inner);
    }
    await this.#fs.removeFolder(path);
  }

  /** An object id, or `ref: …`. Loose, packed, loose again: `git pack-refs` may move it between the first two. */
  async #readOnce(ref: RefName): Promise<Oid | `ref: ${string}` | null> {
    return (await this.#readLoose(ref)) ?? (await this.#packed.read()).get(ref) ?? (await this.#readLoose(ref));
  }

  async #readLoose(ref: RefName): Promise<Oid | `ref: ${string}` | null> {
    const bytes = await this.#readRefFile(ref);
    if (bytes === null) return null;
    const text = Buffer.from(bytes).toString('latin1').trimEnd();
    if (isOid(text)) return text;
    const target = /^ref:\s*(\S+)$/.exec(text)?.[1];
    if (target !== undefined) return `ref: ${target}`;
    throw new MeshError(
      'store_damaged',
      `${ref} holds ${bytes.length === 0 ? 'nothing' : 'no object id'}: expected 40 hex digits. Look for the branch's newest commit with git fsck --lost-found in the store, and put it back with git update-ref`,
      { data: { ref } },
    );
  }

  async #readRefFile(ref: RefName): Promise<Uint8Array | null> {
    try {
      return await readIfThere(this.#fs, join(this.#gitdir, ref));
    } catch (error) {
      // A folder of other refs.
      if (isErrno(error, 'EISDIR')) return null;
      throw error;
    }
  }

  async #looseNames(folder: string, depth: number): Promise<RefName[]> {
    if (depth > maxDepth) return [];
    const names: RefName[] = [];
    for (const name of await this.#fs.list(join(this.#gitdir, folder))) {
      const full = `${folder}${name}`;
      const kind = (await this.#fs.stat(join(this.#gitdir, full)))?.kind;
      if (kind === 'folder') names.push(...(await this.#looseNames(`${full}/`, depth + 1)));
      else if (kind === 'file' && isRefName(full)) names.push(full);
    }
    return names;
  }

  async #conflict(ref: RefName, expected: Oid | null, current: string | null): Promise<MeshError> {
    const name = ref.slice(ref.lastIndexOf('/') + 1);
    const siblings = await this.#fs.list(dirname(join(this.#gitdir, ref)));
    const twin = siblings.includes(name)
      ? undefined
      : siblings.find((other) => other.toLowerCase() === name.toLowerCase());
    const found =
      twin === undefined
        ? (current ?? 'nothing')
        : `${current ?? ''} of "${twin}", which this disk takes for the same name`;
    return new MeshError(
      'conflict',
      `${ref} was not moved: expected it at ${expected ?? 'nothing'}, found ${found}; read it again and try anew`,
      { data: { ref, expected, current } },
    );
  }
}

function inTheWay(ref: RefName, other: string): MeshError {
  return new MeshError(
    'conflict',
    `${ref} cannot be made: ${other} is in its way (git keeps refs as files and folders)`,
    {
      data: { ref, other },
    },
  );
}
