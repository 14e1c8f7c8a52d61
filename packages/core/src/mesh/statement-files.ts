import { maxFileBytes } from '../domain/codec.js';
import { isFolder } from '../domain/git-tree.js';
import type { Handle, Oid } from '../domain/ids.js';
import { checkReceipt, checkRoster, parsePath } from '../domain/layout.js';
import { decodeReceipt } from '../domain/receipt-record.js';
import type { RosterRecord } from '../domain/records.js';
import { decodeRoster } from '../domain/roster-record.js';
import { lookupPath } from '../domain/tree-edit.js';
import { MeshError } from '../errors.js';
import { BoundedCache } from '../store/bounded-cache.js';
import type { Objects } from '../store/ports.js';
import type { Branch } from './branches.js';
import { regularFiles } from './tree-files.js';

const maxFiles = 2_000;

/** What a machine's folder states: of each machine only what its newest does is kept. */
interface Kept<T> {
  folder: Oid;
  value: T;
}

/** What branches state about other machines, kept by the folder that it stands in. What cannot be read is doctor's. */
export class StatementFiles {
  readonly #objects: Objects;
  readonly #roster = new BoundedCache<string, Kept<readonly RosterRecord[]>>(20_000);
  readonly #pinned = new BoundedCache<string, Kept<ReadonlyMap<Handle, string>>>(200_000);

  constructor(objects: Objects) {
    this.#objects = objects;
  }

  /** Whom a branch states to be admitted or revoked. */
  async roster(branch: Branch): Promise<readonly RosterRecord[]> {
    return this.#kept(this.#roster, branch, 'roster', async () => {
      const found: RosterRecord[] = [];
      for await (const { path, bytes } of this.#files(branch, 'roster/')) {
        const record = orNull(() => decodeRoster(bytes));
        if (record !== null && checkRoster(record, { path }) === null) found.push(record);
      }
      return found;
    });
  }

  /** The fingerprints of the keys that a machine has pinned, by its receipts. */
  async pinned(branch: Branch): Promise<ReadonlyMap<Handle, string>> {
    return this.#kept(this.#pinned, branch, 'receipts', async () => {
      const found = new Map<Handle, string>();
      for await (const { path, bytes } of this.#files(branch, 'receipts/')) {
        const place = parsePath(path);
        const record = orNull(() => decodeReceipt(bytes));
        if (place?.kind !== 'receipt' || record === null) continue;
        if (checkReceipt(record, { path, branch: branch.handle }) === null) found.set(place.sender, record.key);
      }
      return found;
    });
  }

  async #kept<T extends { length: number } | { size: number }>(
    cache: BoundedCache<string, Kept<T>>,
    branch: Branch,
    folder: string,
    read: () => Promise<T>,
  ): Promise<T> {
    const readTree = (oid: Oid): ReturnType<Objects['tree']> => this.#objects.tree(oid);
    const entry = await lookupPath({ root: branch.tree, readTree, path: folder });
    if (entry === null || !isFolder(entry)) return read();
    // Where its machine is revoked both are asked for: the tip, and what of it is believed.
    const key = branch.revoked === undefined ? branch.handle : `${branch.handle} as believed`;
    const known = cache.get(key);
    if (known?.folder === entry.oid) return known.value;
    const value = await read();
    cache.set(key, { folder: entry.oid, value }, 1 + ('size' in value ? value.size : value.length));
    return value;
  }

  async *#files(branch: Branch, folder: string): AsyncGenerator<{ path: string; bytes: Uint8Array }> {
    try {
      for await (const { path, oid } of regularFiles(this.#objects, branch.tree, folder, maxFiles)) {
        const bytes = await this.#bytes(oid);
        if (bytes !== null) yield { path, bytes };
      }
    } catch (error) {
      // Too many of them, or a folder that cannot be read.
      if (!(error instanceof MeshError)) throw error;
    }
  }

  async #bytes(oid: Oid): Promise<Uint8Array | null> {
    try {
      return await this.#objects.blob(oid, maxFileBytes);
    } catch (error) {
      if (error instanceof MeshError) return null;
      throw error;
    }
  }
}

function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof MeshError) return null;
    throw error;
  }
}
