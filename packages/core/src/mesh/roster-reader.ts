import type { Handle, Oid, RefName } from '../domain/ids.js';
import { branchRef, charterRef } from '../domain/layout.js';
import type { Cut } from '../domain/roster.js';
import { MeshError } from '../errors.js';
import { BoundedCache } from '../store/bounded-cache.js';
import type { Store } from '../store/store.js';
import { commitAtCut, readRuling } from './believed.js';
import type { Branch } from './branches.js';
import { founderOf } from './charter.js';
import { Memo } from './memo.js';
import type { Roster } from './standing.js';
import type { StatementFiles } from './statement-files.js';

export interface Tip {
  handle: Handle;
  oid: Oid;
}

/** How accepted branches are read, whether their machines count or not. */
interface AcceptedBranches {
  at(handle: Handle, tip: Oid): Promise<Branch>;
  /** Those of the tips that can be read. */
  readable(tips: readonly Tip[]): Promise<Branch[]>;
}

/** Works out who counts, and keeps it for as long as no branch moves. */
export class RosterReader {
  readonly #store: Store;
  readonly #statements: StatementFiles;
  readonly #branches: AcceptedBranches;
  readonly #ruling = new Memo<Roster>();
  readonly #cut = new BoundedCache<string, Oid>(2_000);

  constructor(store: Store, statements: StatementFiles, branches: AcceptedBranches) {
    this.#store = store;
    this.#statements = statements;
    this.#branches = branches;
  }

  /**
   * Who counts by what the branches at `tips` state. Under `open` only the own branch speaks, under `roster` all do, and
   * `tips` may be left empty for the former.
   */
  async read(tips: readonly Tip[]): Promise<Roster> {
    const { policy, handle: own, ref_prefix: prefix } = this.#store.config;
    const ownTip = policy === 'open' ? await this.#tipOrNull(branchRef(prefix, own)) : null;
    const speaking = policy === 'roster' ? tips : ownTip === null ? [] : [{ handle: own, oid: ownTip }];
    const charter = await this.#tipOrNull(charterRef(prefix));
    // Of a history that comes later, what a revoked machine stated shows later.
    const edges = policy === 'roster' ? (await this.#store.objects.edges()).size : 0;
    const key = [policy, charter, edges, ...speaking.map(({ handle, oid }) => `${handle}:${oid}`)].join();
    return this.#ruling.get(key, async () => {
      const founder = await founderOf(this.#store);
      const common = { policy, own, founder };
      const ruling = await readRuling({
        ...common,
        branches: await this.#branches.readable(speaking),
        statements: this.#statements,
        cutBack: (branch, cut) => this.cutBack(branch, cut),
      });
      return { ...common, ruling };
    });
  }

  /** What a believed branch is where its machine was revoked: as far as it is believed; null where it is not here. */
  async cutBack(branch: Branch, cut: Cut): Promise<Branch | null> {
    const id = [branch.tip, cut.seq, cut.commit].join();
    const commit = this.#cut.get(id) ?? (await commitAtCut(this.#store.objects, branch, cut));
    // What is not here now may come.
    if (commit === null) return null;
    this.#cut.set(id, commit, 1);
    const at = await this.#branches.at(branch.handle, commit);
    return at.seq > cut.seq ? null : { ...at, revoked: cut };
  }

  /** Null for a ref that cannot be read, too: that is mended when the store is opened, and hides nothing else. */
  async #tipOrNull(ref: RefName): Promise<Oid | null> {
    try {
      return await this.#store.refs.read(ref);
    } catch (error) {
      if (error instanceof MeshError) return null;
      throw error;
    }
  }
}
