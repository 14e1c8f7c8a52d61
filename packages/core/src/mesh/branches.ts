import { parseCommitMessage } from '../domain/commit-message.js';
import { isAgent } from '../domain/ids.js';
import type { AgentKey, EpochMillis, Handle, Oid } from '../domain/ids.js';
import { keysOf } from '../domain/key-chain.js';
import { branchRef, handleOfRef, parsePath, presencePath } from '../domain/layout.js';
import { decodeMachine } from '../domain/machine.js';
import { decodePresence } from '../domain/presence-record.js';
import type { MachineRecord, PresenceRecord } from '../domain/records.js';
import type { Verified } from '../domain/results.js';
import { lookupPath } from '../domain/tree-edit.js';
import type { ClockEvidence } from '../domain/skew.js';
import { MeshError } from '../errors.js';
import { BoundedCache } from '../store/bounded-cache.js';
import type { Store } from '../store/store.js';
import { TipMessages } from './in-tip.js';
import { machineBlob } from './machine-at.js';
import { Memo } from './memo.js';
import { edgesOf } from './older-history.js';
import type { Edge } from './older-history.js';
import type { Received } from './receipts.js';
import { regularFiles } from './tree-files.js';

/** A machine's branch at its accepted tip. Never changes: a new tip is a new value. */
export interface Branch {
  readonly handle: Handle;
  readonly tip: Oid;
  readonly tree: Oid;
  /** `Mesh-Seq` and `Mesh-Journal` of the tip; 0 where the commit carries none. */
  readonly seq: number;
  readonly journal: number;
  readonly committedAt: EpochMillis;
  /** Null where machine.yaml at the tip cannot be read: doctor names it. */
  readonly machine: MachineRecord | null;
}

/** No record of the mesh is larger: what is, is refused before it is read. */
export const maxRecordBytes: number = 32 * 1024;
/** What stands behind them on a branch is not read; doctor names it. */
export const maxPresenceRecords = 2_000;

/** The accepted branches of the store, decoded and kept by commit id. */
export class Branches {
  readonly #store: Store;
  readonly messages: TipMessages;
  /** When the first own message in the tip is to leave it, while neither tip nor journal move. */
  readonly nextDue: Memo<EpochMillis> = new Memo<EpochMillis>();
  /** Senders whose receipts are missing, while neither tip nor journal move. */
  readonly unstated: Memo<readonly Received[]> = new Memo<readonly Received[]>();
  readonly #edges = new Memo<readonly Edge[]>();
  /** What other machines' tips say of when they read ours, by tip. */
  readonly readings: BoundedCache<Oid, ClockEvidence['read']> = new BoundedCache<Oid, ClockEvidence['read']>(2_000);
  readonly #byTip = new Map<Oid, Branch>();
  readonly #presence = new Map<Oid, PresenceRecord | null>();

  constructor(store: Store) {
    this.#store = store;
    this.messages = new TipMessages(store.objects);
  }

  /** Where histories end in this store although they go on elsewhere, by machine; empty where all is here. */
  async edges(): Promise<readonly Edge[]> {
    const { objects } = this.#store;
    const here: Oid[] = [];
    // One whose commit is still on its way is none yet.
    for (const oid of await objects.edges()) if (await objects.has(oid)) here.push(oid);
    return here.length === 0 ? [] : this.#edges.get(here.join(), () => edgesOf(objects, here));
  }

  get own(): Handle {
    return this.#store.config.handle;
  }

  /** The own branch. @throws MeshError `store_damaged` when the ref is gone. */
  async ownBranch(): Promise<Branch> {
    const branch = await this.get(this.own);
    if (branch === null) {
      throw new MeshError(
        'store_damaged',
        `This store has lost its own branch (${branchRef(this.#store.config.ref_prefix, this.own)}). ` +
          'Run `git mesh doctor`; if the branch is still on a remote, join again under another handle and keep this folder.',
      );
    }
    return branch;
  }

  async get(handle: Handle): Promise<Branch | null> {
    const tip = await this.#store.refs.read(branchRef(this.#store.config.ref_prefix, handle));
    return tip === null ? null : this.#at(handle, tip);
  }

  /** Every machine's branch, by handle. One that cannot be read is left out here and named by doctor. */
  async all(): Promise<Branch[]> {
    const prefix = this.#store.config.ref_prefix;
    const found: Branch[] = [];
    for (const { ref, oid } of await this.#store.refs.list(prefix)) {
      const handle = handleOfRef(prefix, ref);
      if (handle === null) continue;
      try {
        found.push(await this.#at(handle, oid));
      } catch (error) {
        if (!(error instanceof MeshError)) throw error;
      }
    }
    return found;
  }

  /** The presence records of a branch that can be read; the others are doctor's. */
  async presence(branch: Branch): Promise<PresenceRecord[]> {
    const records: PresenceRecord[] = [];
    for await (const file of regularFiles(this.#store.objects, branch.tree, 'presence/', maxPresenceRecords)) {
      const place = parsePath(file.path);
      if (place?.kind !== 'presence') continue;
      const record = await this.#decodePresence(file.oid);
      if (record !== null && isAgent(record.agent, place.agent)) records.push(record);
    }
    return records;
  }

  /** One agent's presence record, or null where there is none that can be read. */
  async presenceOf(branch: Branch, agent: AgentKey): Promise<PresenceRecord | null> {
    const blob = await this.file(branch, presencePath(agent));
    const record = blob === null ? null : await this.#decodePresence(blob);
    return isAgent(record?.agent, agent) ? record : null;
  }

  /** The blob at a path of a branch, or null. */
  async file(branch: Branch, path: string): Promise<Oid | null> {
    const entry = await lookupPath({ root: branch.tree, readTree: (oid) => this.#store.objects.tree(oid), path });
    return entry?.mode === '100644' ? entry.oid : null;
  }

  async read(blob: Oid): Promise<Uint8Array> {
    return this.#store.objects.blob(blob, maxRecordBytes);
  }

  async verified(branch: Branch, founderKey: string | null): Promise<Verified> {
    if (branch.handle === this.own) return 'signed';
    const pinned = (await this.#store.local.pins()).get(branch.handle);
    if (pinned === undefined) return 'unverified';
    // The charter names the key that the founder had then.
    const keys = branch.machine === null ? [pinned] : keysOf(branch.machine);
    return founderKey !== null && keys.includes(founderKey) && keys.includes(pinned) ? 'signed' : 'first-seen';
  }

  async #at(handle: Handle, tip: Oid): Promise<Branch> {
    const known = this.#byTip.get(tip);
    if (known?.handle === handle) return known;
    const commit = await this.#store.objects.commit(tip);
    const event = parseCommitMessage(commit.message);
    const base = { handle, tip, tree: commit.tree };
    const branch: Branch = {
      ...base,
      seq: event?.seq ?? 0,
      journal: event?.journal ?? 0,
      committedAt: commit.committer.at,
      machine: await this.#machine(commit.tree),
    };
    this.#byTip.set(tip, branch);
    if (this.#byTip.size > 2_000) this.#byTip.delete(this.#byTip.keys().next().value ?? tip);
    return branch;
  }

  async #machine(tree: Oid): Promise<MachineRecord | null> {
    // A tree that cannot be read is the branch's damage; a file that cannot, only the file's.
    const blob = await machineBlob(this.#store.objects, tree);
    if (blob === null) return null;
    try {
      return decodeMachine(await this.read(blob));
    } catch (error) {
      if (error instanceof MeshError) return null;
      throw error;
    }
  }

  async #decodePresence(blob: Oid): Promise<PresenceRecord | null> {
    const known = this.#presence.get(blob);
    if (known !== undefined) return known;
    let record: PresenceRecord | null = null;
    try {
      record = decodePresence(await this.read(blob));
    } catch (error) {
      if (!(error instanceof MeshError)) throw error;
    }
    this.#presence.set(blob, record);
    if (this.#presence.size > 20_000) this.#presence.clear();
    return record;
  }
}
