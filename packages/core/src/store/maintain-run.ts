import type { Densified } from './densify.js';

/** The packs that one maintenance is of, so that it ends though somebody makes others meanwhile. */
export class MaintainRun {
  #packs: Set<string> | null = null;

  /** After a step: whether it joined two or more of them and more are left, so that another may join it with the rest. */
  goesOn({ made, packs, seen }: Densified): boolean {
    this.#packs ??= new Set(seen);
    let joined = 0;
    for (const name of packs) if (this.#packs.delete(name)) joined += 1;
    this.#packs.add(made.name);
    return joined > 1 && this.#packs.size > 1;
  }
}
