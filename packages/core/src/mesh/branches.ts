import { parseCommitMessage } from '../domain/commit-message.js';
import { isAgent } from '../domain/ids.js';
import type { AgentKey, EpochMillis, Handle, Oid } from '../domain/ids.js';
import { branchRef, handleOfRef, parsePath, presencePath } from '../domain/layout.js';
import { decodeMachine } from '../domain/machine.js';
import { decodePresence } from '../domain/presence-record.js';
import type { MachineRecord, MessageRecord, PresenceRecord } from '../domain/records.js';
import type { Verified } from '../domain/results.js';
import type { Cut } from '../domain/roster.js';
import { lookupPath } from '../domain/tree-edit.js';
import type { ClockEvidence } from '../domain/skew.js';
import { MeshError } from '../errors.js';
import { BoundedCache } from '../store/bounded-cache.js';
import type { Store } from '../store/store.js';
import { FirstDue } from './first-due.js';
import { TipMessages } from './in-tip.js';
import { keyConflicts } from './key-conflicts.js';
import { machineBlob } from './machine-at.js';
import { Memo } from './memo.js';
import { edgesOf } from './older-history.js';
import type { Edge } from './older-history.js';
import type { Received } from './receipts.js';
import { RosterReader } from './roster-reader.js';
import type { Tip } from './roster-reader.js';
import { cutOf, keysOfBranch, standingOf, verifiedBy } from './standing.js';
import type { KeyConflict, MachineStanding, Roster } from './standing.js';
import { StatementFiles } from './statement-files.js';
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
  /** Set where its machine was revoked: then `tip` is the last commit that is believed. */
  readonly revoked?: Cut;
}

/** No record of the mesh is larger: what is, is refused before it is read. */
export const maxRecordBytes: number = 32 * 1024;
/** What stands behind them on a branch is not read; doctor names it. */
export const maxPresenceRecords = 2_000;
const maxKeptPresence = 20_000;

/** The accepted branches of the store, decoded and kept by commit id. */
export class Branches {
  readonly #store: Store;
  readonly messages: TipMessages;
  /** Messages that were read, by blob. */
  readonly records: BoundedCache<Oid, MessageRecord> = new BoundedCache<Oid, MessageRecord>(2 * 1024 * 1024);
  readonly firstDue: FirstDue = new FirstDue();
  /** Senders whose receipts are missing, while neither tip nor journal move. */
  readonly unstated: Memo<readonly Received[]> = new Memo<readonly Received[]>();
  /** What the branches state about other machines. */
  readonly statements: StatementFiles;
  readonly #edges = new Memo<readonly Edge[]>();
  readonly #roster: RosterReader;
  readonly #conflicts = new Memo<ReadonlyMap<Handle, KeyConflict>>();
  /** What other machines' tips say of when they read ours, by tip. */
  readonly readings: BoundedCache<Oid, ClockEvidence['read']> = new BoundedCache<Oid, ClockEvidence['read']>(2_000);
  readonly #byTip = new Map<Oid, Branch>();
  /** By machine and agent, so that of each only the newest is kept. */
  readonly #presence = new BoundedCache<string, { blob: Oid; record: PresenceRecord | null }>(maxKeptPresence);

  constructor(store: Store) {
    this.#store = store;
    this.messages = new TipMessages(store.objects);
    this.statements = new StatementFiles(store.objects);
    this.#roster = new RosterReader(store, this.statements, {
      at: (handle, tip) => this.at(handle, tip),
      readable: (tips) => this.#readable(tips),
    });
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
    const branch = await this.accepted(this.own);
    if (branch === null) {
      throw new MeshError(
        'store_damaged',
        `This store has lost its own branch (${branchRef(this.#store.config.ref_prefix, this.own)}). ` +
          'Run `git mesh doctor`; if the branch is still on a remote, join again under another handle and keep this folder.',
      );
    }
    return branch;
  }

  /**
   * A machine's branch as far as it is believed. Null where there is none, where its machine is not admitted to a mesh
   * with the policy `roster`, and where it was revoked and the commit named then is not here. The own one always is.
   */
  async get(handle: Handle): Promise<Branch | null> {
    const branch = await this.accepted(handle);
    return branch === null ? null : this.#believed(branch, await this.roster());
  }

  /** Those of the named ones that are there and can be read, as {@link Branches.get} gives them. What they go by is read once. */
  async those(handles: Iterable<Handle>): Promise<Map<Handle, Branch>> {
    const roster = await this.roster();
    const found = new Map<Handle, Branch>();
    for (const handle of handles) {
      try {
        const branch = await this.accepted(handle);
        const believed = branch === null ? null : await this.#believed(branch, roster);
        if (believed !== null) found.set(handle, believed);
      } catch (error) {
        // A branch that cannot be read is doctor's to name, and hides no other.
        if (!(error instanceof MeshError)) throw error;
      }
    }
    return found;
  }

  /** Every machine's branch as {@link Branches.get} gives it, by handle. */
  async all(): Promise<Branch[]> {
    const tips = await this.#tips();
    const roster = await this.#roster.read(tips);
    const believed: Branch[] = [];
    for (const branch of await this.#readable(tips)) {
      const one = await this.#believed(branch, roster);
      if (one !== null) believed.push(one);
    }
    return believed;
  }

  /** A machine's branch at the tip that passed the checks of a fetch, whether its machine counts or not. */
  async accepted(handle: Handle): Promise<Branch | null> {
    const tip = await this.#store.refs.read(branchRef(this.#store.config.ref_prefix, handle));
    return tip === null ? null : this.at(handle, tip);
  }

  /** As {@link Branches.accepted}, by handle. One that cannot be read is left out here and named by doctor. */
  async allAccepted(): Promise<Branch[]> {
    return this.#readable(await this.#tips());
  }

  /** Who counts, by what all believed branches state now. */
  async roster(): Promise<Roster> {
    return this.#roster.read(this.#store.config.policy === 'open' ? [] : await this.#tips());
  }

  /** Keys that other machines pinned otherwise; none under the policy `roster`, where members vouch for keys. */
  async conflicts(): Promise<ReadonlyMap<Handle, KeyConflict>> {
    if (this.#store.config.policy === 'roster') return new Map();
    const branches = await this.all();
    const key = branches.map(({ handle, tip }) => `${handle}:${tip}`).join();
    return this.#conflicts.get(key, () => keyConflicts(branches, { own: this.own, statements: this.statements }));
  }

  /** How a machine with these keys stands, whether its branch was accepted or not. */
  async standing(handle: Handle, keys: readonly string[]): Promise<MachineStanding> {
    const roster = await this.roster();
    return standingOf(roster, { handle, keys, inConflict: (await this.conflicts()).has(handle) });
  }

  /** The presence records of a branch that can be read; the others are doctor's. */
  async presence(branch: Branch): Promise<PresenceRecord[]> {
    const records: PresenceRecord[] = [];
    for await (const file of regularFiles(this.#store.objects, branch.tree, 'presence/', maxPresenceRecords)) {
      const place = parsePath(file.path);
      if (place?.kind !== 'presence') continue;
      const record = await this.#decodePresence(branch, place.agent, file.oid);
      if (record !== null && isAgent(record.agent, place.agent)) records.push(record);
    }
    return records;
  }

  /** One agent's presence record, or null where there is none that can be read. */
  async presenceOf(branch: Branch, agent: AgentKey): Promise<PresenceRecord | null> {
    const blob = await this.file(branch, presencePath(agent));
    const record = blob === null ? null : await this.#decodePresence(branch, agent, blob);
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

  /** Tells what is proven about the machine of a branch. What it goes by is read once, for all branches of an answer. */
  async verifier(): Promise<(branch: Branch) => Verified> {
    const roster = await this.roster();
    const conflicts = await this.conflicts();
    const pins = await this.#store.local.pins();
    return (branch) => {
      const { handle } = branch;
      if (handle === this.own) return 'signed';
      const keys = keysOfBranch(branch);
      const standing = standingOf(roster, { handle, keys, inConflict: conflicts.has(handle) });
      return verifiedBy(standing, { keys, pin: pins.get(handle) });
    };
  }

  async #tips(): Promise<readonly Tip[]> {
    const prefix = this.#store.config.ref_prefix;
    const tips: Tip[] = [];
    for (const { ref, oid } of await this.#store.refs.list(prefix)) {
      const handle = handleOfRef(prefix, ref);
      if (handle !== null) tips.push({ handle, oid });
    }
    return tips;
  }

  async #readable(tips: readonly Tip[]): Promise<Branch[]> {
    const found: Branch[] = [];
    for (const { handle, oid } of tips) {
      try {
        found.push(await this.at(handle, oid));
      } catch (error) {
        if (!(error instanceof MeshError)) throw error;
      }
    }
    return found;
  }

  async #believed(branch: Branch, roster: Roster): Promise<Branch | null> {
    if (branch.handle === this.own) return branch;
    const cut = cutOf(roster, branch.handle);
    if (cut !== null) return this.#roster.cutBack(branch, cut);
    const keys = keysOfBranch(branch);
    const { standing } = standingOf(roster, { handle: branch.handle, keys, inConflict: false });
    return standing === 'waiting' ? null : branch;
  }

  /** A machine's branch as it was at a commit of it. */
  async at(handle: Handle, tip: Oid): Promise<Branch> {
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
    if (this.#byTip.size > 500) this.#byTip.delete(this.#byTip.keys().next().value ?? tip);
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

  async #decodePresence({ handle }: Branch, agent: AgentKey, blob: Oid): Promise<PresenceRecord | null> {
    const key = `${handle}/${agent}`;
    const known = this.#presence.get(key);
    if (known?.blob === blob) return known.record;
    let record: PresenceRecord | null = null;
    try {
      record = decodePresence(await this.read(blob));
    } catch (error) {
      if (!(error instanceof MeshError)) throw error;
    }
    this.#presence.set(key, { blob, record }, 1);
    return record;
  }
}
