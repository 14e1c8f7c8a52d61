import { dirname } from 'node:path';
import type { RandomBytes } from '../domain/clock.js';
import { MeshError } from '../errors.js';
import { discard, readIfThere } from './durable-fs.js';
import type { Fs } from './fs.js';
import { MachineKey, keyPath, nextKeyPath, readKey, writeKey } from './keys.js';
import type { Signer } from './ports.js';

/**
 * The machine's key in its file, and the one that is about to take its place. Which of the two holds is told by the own
 * branch, whose tip states the key: so a process that died in between, or another one that has the store open, is made up
 * for by whoever writes next.
 */
export class OwnKey {
  readonly #fs: Fs;
  readonly #dir: string;
  #key: MachineKey;
  #signer: Signer;

  constructor(fs: Fs, dir: string, key: MachineKey) {
    this.#fs = fs;
    this.#dir = dir;
    this.#key = key;
    this.#signer = key.signer();
  }

  get signer(): Signer {
    return this.#signer;
  }

  /** Puts a key beside the present one, durably, for {@link OwnKey.settle} to take once the branch states it. Under the store lock. */
  async stage(key: MachineKey, options: { random: RandomBytes; comment: string }): Promise<void> {
    await writeKey(this.#fs, nextKeyPath(this.#dir), key, options);
  }

  async isStaged(): Promise<boolean> {
    return (await this.#fs.stat(nextKeyPath(this.#dir))) !== null;
  }

  /** Whether this store has the private half of a key, in whichever file. Changes nothing. */
  async holds(publicLine: string): Promise<boolean> {
    if (this.#key.publicLine === publicLine || (await this.#inFile()).publicLine === publicLine) return true;
    return (await this.#staged())?.publicLine === publicLine;
  }

  /**
   * Makes the key that the own branch states (`null`: none that can be read) the one that signs: finishes a rotation whose
   * commit was made, drops what was prepared for one whose commit was not. Cheap where nothing is to be done. Under the
   * store lock.
   *
   * @throws MeshError `store_damaged` where this store has not that key.
   */
  async settle(stated: string | null): Promise<void> {
    if (stated === null) return;
    const isStaged = await this.isStaged();
    if (stated !== this.#key.publicLine) {
      const inFile = await this.#inFile();
      const staged = isStaged ? await this.#staged() : null;
      if (inFile.publicLine === stated) this.#take(inFile);
      else if (staged?.publicLine === stated) {
        await this.#fs.rename(nextKeyPath(this.#dir), keyPath(this.#dir));
        await this.#fs.syncFolder(dirname(keyPath(this.#dir)));
        this.#take(staged);
        return;
      } else throw notItsKey();
    }
    if (isStaged) await discard(this.#fs, nextKeyPath(this.#dir));
  }

  #take(key: MachineKey): void {
    this.#key = key;
    this.#signer = key.signer();
  }

  #inFile(): Promise<MachineKey> {
    return readKey(this.#fs, this.#dir);
  }

  async #staged(): Promise<MachineKey | null> {
    const bytes = await readIfThere(this.#fs, nextKeyPath(this.#dir));
    return bytes === null ? null : MachineKey.fromOpenSsh(Buffer.from(bytes).toString('latin1'));
  }
}

function notItsKey(): MeshError {
  return new MeshError(
    'store_damaged',
    'mesh/key is not the key that this machine’s branch states, so nobody would accept what is signed with it and nothing was written: ' +
      'put the right key back from a backup, or join the mesh under a new handle',
  );
}
