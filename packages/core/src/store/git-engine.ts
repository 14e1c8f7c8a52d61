import { promises } from 'node:fs';
import type { GitObject } from '../domain/git-object.js';
import type { Oid } from '../domain/ids.js';
import { isObjectType } from './object-id.js';

/**
 * The disk as isomorphic-git sees it: it takes every `.idx` for a pack's, also one that a repack has under a name with a
 * leading dot, whose `.pack` is not there any more.
 */
const fs = {
  promises: {
    ...promises,
    readdir: async (folder: string): Promise<string[]> =>
      (await promises.readdir(folder)).filter((name) => !name.startsWith('.')),
  },
};

/**
 * What the store uses of isomorphic-git: packed objects that its own reader cannot make out. Its cache holds parsed indexes and whole
 * packs and never lets go of one, so it lives as long as the packs do and is dropped when one vanishes.
 */
export class GitEngine {
  readonly #gitdir: string;
  #cache: object = {};

  constructor(gitdir: string) {
    this.#gitdir = gitdir;
  }

  dropCache(): void {
    this.#cache = {};
  }

  /** Any failure is isomorphic-git's own error: a pack that went away meanwhile, a missing or a damaged object. */
  async read(oid: Oid): Promise<GitObject> {
    // Most processes never need it, and loading it takes longer than all else that they do.
    const git = await import('isomorphic-git');
    // The commands it recommends instead want to know the type before.
    // eslint-disable-next-line @typescript-eslint/no-deprecated
    const found = await git.readObject({
      fs,
      gitdir: this.#gitdir,
      oid,
      format: 'content',
      cache: this.#cache,
    });
    const { type, object } = found;
    if (!isObjectType(type) || !(object instanceof Uint8Array)) throw new Error(`object ${oid} came as ${type}`);
    return { type, data: object };
  }
}
