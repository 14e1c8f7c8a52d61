import type { RandomBytes } from '../domain/clock.js';
import { MeshError } from '../errors.js';
import type { Fs } from './fs.js';
import { judgePlace, lookAtPlace, placeOf } from './place.js';
import type { PlaceVerdict } from './place.js';
import type { Hold, Journal, LocalState, StoreConfig } from './ports.js';

/** Numbers of a store that was put back begin this far above those that it knows of, and by up to as much again. */
const restoredGap = 10_000;

export interface OwnershipDeps {
  dir: string;
  fs: Fs;
  /** The disk outside of the store. */
  raw: Fs;
  local: LocalState;
  journal: Journal;
  random: RandomBytes;
  config: () => StoreConfig;
}

/** What keeps a store from writing: it is a copy, or another store's branch stands under its handle. */
export type Held = { kind: 'copied'; original: string } | Hold;

/**
 * Whether this store may write its branch. Two stores that write one branch fork it, which nobody can join again: so the
 * one that finds the other stops, and a person decides which goes on.
 */
export class Ownership {
  readonly #deps: OwnershipDeps;
  /** Looked at once: a store does not become a copy while it is open. */
  #verdict: Promise<PlaceVerdict> | undefined;
  #settled = false;

  constructor(deps: OwnershipDeps) {
    this.#deps = deps;
  }

  /** Null where the store may write. Changes nothing and needs no lock. */
  async held(): Promise<Held | null> {
    const { local, config } = this.#deps;
    const hold = await local.hold();
    if (hold !== null) return hold;
    this.#verdict ??= this.#look();
    // A mesh of one machine has no branch that two could write.
    if ((await this.#verdict) !== 'copied' || config().remotes.length === 0) return null;
    return { kind: 'copied', original: (await local.place())?.path ?? 'another folder' };
  }

  /**
   * For whoever is about to write, under the store lock. Notes where the store stands; one that was put back from a backup
   * goes on with numbers that it cannot have given before, whatever it has forgotten.
   * @throws MeshError `store_copied`, `handle_conflict`
   */
  async require(): Promise<void> {
    const held = await this.held();
    if (held !== null) {
      const { dir, config } = this.#deps;
      const { handle } = config();
      const { kind, message, fix } = heldProblem(held, { handle, dir });
      throw new MeshError(kind, `${message} ${fix}`, { data: { machine: handle } });
    }
    if (this.#settled) return;
    await this.#settle((await this.#verdict) ?? 'new');
    this.#settled = true;
  }

  /** This store is the one that goes on: a person has said so. Under the store lock. */
  async claim(): Promise<void> {
    await this.#deps.local.putHold(null);
    await this.#settle(await this.#look());
    this.#verdict = Promise.resolve('same');
    this.#settled = true;
  }

  async #look(): Promise<PlaceVerdict> {
    const { dir, fs, raw, local, config } = this.#deps;
    const recorded = await local.place();
    if (recorded === null) return 'new';
    const there = await lookAtPlace(raw, recorded, { dir, store: config().store });
    return judgePlace(recorded, await placeOf(fs, dir), there);
  }

  async #settle(verdict: PlaceVerdict): Promise<void> {
    if (verdict === 'same') return;
    const { dir, fs, local, journal, random } = this.#deps;
    if (verdict === 'restored' || verdict === 'copied') {
      const [high = 0, low = 0] = random(2);
      // Put back twice from one backup, it gives other numbers each time.
      const floor = (await journal.view()).highest + restoredGap + (((high << 8) | low) % restoredGap);
      await journal.raiseTo(floor);
    }
    await local.putPlace(await placeOf(fs, dir));
  }
}

/** What a person is told of a store that is held, with the way out of it. */
export function heldProblem(
  held: Held,
  { handle, dir }: { handle: string; dir: string },
): { kind: Hold['kind']; message: string; fix: string } {
  const rejoin =
    'join the mesh under another handle with a store of its own (git-mesh join URL --machine HANDLE --dir NEWDIR)';
  switch (held.kind) {
    case 'copied':
      return {
        kind: 'store_copied',
        message: `The store ${dir} is a copy of the one at ${held.original} of machine ${handle}, which may still be in use: nothing is written with it.`,
        fix: `Where both are to be used, ${rejoin}; where this one takes the other's place for good, remove the other, or say so with git-mesh reclaim REMOTE.`,
      };
    case 'store_copied':
      return {
        kind: held.kind,
        message: `Remote ${held.remote} has commits of machine ${handle} that this store did not make: a copy of it is in use, and nothing more is written here.`,
        fix: `Find the copy and let it ${rejoin}; then go on here with git-mesh reclaim ${held.remote}.`,
      };
    case 'handle_conflict':
      return {
        kind: held.kind,
        message: `Another store's branch is on remote ${held.remote} under this machine's handle, ${handle}: nothing more is written here, and what is here stays readable.`,
        fix: `To go on, ${rejoin}, and send again from there what waits here (git-mesh sent). If the handle is this machine's by right, git-mesh reclaim ${held.remote} puts its branch back there and keeps the other's commits.`,
      };
  }
}
