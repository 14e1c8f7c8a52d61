import type { CommitObject, GitObject, ObjectType, TreeEntry } from '../domain/git-object.js';
import type { AgentId, AgentKey, EpochMillis, Handle, IsoTime, Oid, RefName, Ulid } from '../domain/ids.js';
import type { Densified, DensifyBounds } from './densify.js';
import type { GatherBounds } from './loose-gather.js';
import type { LostObjects } from './lost-objects.js';
import type { MessageType } from '../domain/records.js';

/** An object to write. `oid`, and of a tree its `entries`, where they are known already: both must be right. */
export interface WrittenObject {
  type: ObjectType;
  data: Uint8Array;
  oid?: Oid;
  entries?: readonly TreeEntry[];
}

export type StagedObject = WrittenObject & { oid: Oid };

/**
 * Objects by id. Reads see every object that was there when they began, whatever repacks meanwhile.
 * Decoded objects are cached by id (they never change).
 */
export interface Objects {
  /** @throws MeshError `store_damaged` when the object is missing or unreadable. */
  read(oid: Oid): Promise<GitObject>;
  /** @throws MeshError `store_damaged` when missing, unreadable or no commit; `protocol_error` when its content is malformed. */
  commit(oid: Oid): Promise<CommitObject>;
  /**
   * Entries in git's order.
   * @throws MeshError `store_damaged` when missing, unreadable or no tree; `protocol_error` when its content is malformed.
   */
  tree(oid: Oid): Promise<readonly TreeEntry[]>;
  /** @throws MeshError `store_damaged` when missing or no blob; `payload_too_large` past `maxBytes`. */
  blob(oid: Oid, maxBytes: number): Promise<Uint8Array>;
  has(oid: Oid): Promise<boolean>;
  /** Computes ids and writes all of it as one small pack, which appears at once; durable when it resolves. Safe to repeat. */
  write(objects: readonly WrittenObject[]): Promise<Oid[]>;
  /**
   * Lets reads through this value see objects that are not written yet, until they are unstaged; {@link Objects.has} and
   * other processes do not.
   */
  stage(objects: readonly StagedObject[]): void;
  unstage(objects: readonly StagedObject[]): void;
  /**
   * A version 2 pack of exactly these objects. `bases` names earlier forms of some of them, which stand before them:
   * where both are in the pack, what differs is enough.
   */
  pack(oids: readonly Oid[], bases?: ReadonlyMap<Oid, Oid>): Promise<Uint8Array>;
  /**
   * Takes in a pack that came from outside: checks its trailer and that every object in it resolves (but for parents of
   * {@link Objects.edges}), then makes its
   * objects durable (as a pack without deltas when few, else as the pack that came). Nothing is visible before the check.
   * @throws MeshError `protocol_error` for a bad, cut or incomplete pack, `payload_too_large` past `maxBytes` unpacked.
   */
  installPack(pack: Uint8Array, limits: { maxObjectBytes: number }): Promise<void>;
  /**
   * The commits at which the history that is here ends although it goes on elsewhere (git's `shallow` file): a walk along
   * parents stops at them. Empty for a store with all of its history. Read anew each time, cheaply.
   */
  edges(): Promise<ReadonlySet<Oid>>;
  /**
   * Atomic and durable. Do not reorder: an edge is added before its commit comes, and removed once what lies before it
   * is here.
   * @throws MeshError `locked` when another process (git's, too) changes them for over 2 s.
   */
  moveEdges(change: { add?: Iterable<Oid>; remove?: Iterable<Oid> }): Promise<void>;
  /**
   * The ids of all objects here, reachable or not, each once, with memory for a small part of them at a time. For a search;
   * not cheap.
   */
  ids(): AsyncIterable<Oid>;
  /** Moves objects in files of their own that are damaged to the folder `aside`; gives their ids. Under the store lock. */
  putLooseAside(aside: string): Promise<Oid[]>;
  /** What was found damaged or missing, to be fetched again. */
  readonly lost: Pick<LostObjects, 'read' | 'note' | 'clear' | 'isToBeSearched' | 'searched'>;
  /** Forgets what is known of the packs, after their files were changed by other means. */
  forget(): Promise<void>;
  /** Whether there are small packs enough for {@link Objects.consolidate} to join. */
  isScattered(): Promise<boolean>;
  /** Joins small packs once there are many; cheap while there are few. Only under the store lock. */
  consolidate(): Promise<void>;
  /**
   * One step of maintenance: joins small packs where there are many, and puts loose objects into one. Drops no object,
   * reachable or not; may be cut off anywhere. Only under the store lock. Gives whether there is more that could be done
   * at once.
   */
  maintain(bounds: MaintainBounds): Promise<boolean>;
  /**
   * Makes a dense pack of some that are not, or of several dense ones: of packs that are no commit's to join, or of all
   * (`whole`). Changes nothing: it takes its time without the store lock. Null where there is nothing to do.
   */
  densify(bounds: MaintainBounds): Promise<Densified | null>;
  /** Puts the dense pack in the place of those it was made of. Only under the store lock. */
  replace(densified: Densified): Promise<void>;
}

export interface MaintainBounds extends GatherBounds, DensifyBounds {}

export interface Refs {
  /** Null when there is no such ref. Symbolic refs are followed. */
  read(ref: RefName): Promise<Oid | null>;
  /** All refs whose name starts with `prefix`, by name. Names that git would refuse, and refs that cannot be read, are left out. */
  list(prefix: string): Promise<{ ref: RefName; oid: Oid }[]>;
  /**
   * Moves a ref atomically and durably under git's own `<ref>.lock`; `expected: null` creates, `next: null` deletes.
   * A `<ref>.lock` of ours names its holder and is taken over with proof of the holder's death; one that names no one
   * (git's own) is removed once it is older than 10 minutes.
   * @throws MeshError `conflict` when the ref is not at `expected`; `locked` when another process holds `<ref>.lock`.
   */
  update(ref: RefName, change: { expected: Oid | null; next: Oid | null }): Promise<void>;
  /** Refs below `prefix` whose files hold no object id: what a power cut or a bad disk left of them. */
  unreadable(prefix: string): Promise<RefName[]>;
  /** Puts `next` in the place of a ref that cannot be read, or takes it away; leaves alone one that can. Under the store lock. */
  replaceUnreadable(ref: RefName, next: Oid | null): Promise<void>;
  /** Whether packed-refs holds what is no line of it: git refuses the whole file for that. */
  isPackedDamaged(): Promise<boolean>;
  /** Takes such lines out. Under the store lock. False where there are none. */
  mendPacked(): Promise<boolean>;
}

/** One line of the journal. `n` is the message number. */
export type JournalEntry =
  | {
      kind: 'message';
      n: number;
      id: Ulid;
      sender: Handle;
      agent: AgentId | null;
      to: Handle | '*';
      to_agent: AgentId | null;
      type: MessageType;
      sent_at: IsoTime;
      expires_at: IsoTime;
      /** When it arrived at this store, by this machine's clock. */
      at: IsoTime;
      /** In memory only: where the clock was set back since, the earliest time at which something was journaled after it. */
      at_most?: IsoTime;
      /** The blob that holds the message. */
      blob: Oid;
      /** The path of the file in the sender's tree. */
      path: string;
      /** Sender's Mesh-Seq of the tip it was found at. For own messages, of the commit that sent it. */
      seq: number;
      in_reply_to: Ulid | null;
      /** payload.repo where that is a string: freezes and clears are matched by it. */
      repo: string | null;
      /** payload.reason, only of freezes. */
      reason: string | null;
      /** The sender's deduplication key, only of own messages. */
      key: string | null;
    }
  /** Everything of `sender` up to this commit is in the journal. */
  | { kind: 'cursor'; sender: Handle; commit: Oid; seq: number; at: IsoTime }
  /** The own branch reached `remote` up to `seq`. */
  | { kind: 'pushed'; remote: string; commit: Oid; seq: number; at: IsoTime }
  /** `machine` states that it has fetched the own branch up to `seq`. */
  | { kind: 'receipt'; machine: Handle; seq: number; at: IsoTime }
  /** The own message `id` stands in another commit now: what was not published was put on top of what was. */
  | { kind: 'moved'; id: Ulid; seq: number }
  /** An agent on `machine` acknowledged the own message `id`. */
  | { kind: 'acked'; id: Ulid; machine: Handle; agent: AgentId; at: IsoTime };

export type MessageEntry = Extract<JournalEntry, { kind: 'message' }>;

/** A branch's tip that was journaled here. `at_most` as in a message. */
export interface JournaledTip {
  commit: Oid;
  seq: number;
  at: IsoTime;
  at_most?: IsoTime;
}

/**
 * The journal's state in memory. Every list is in the order of the file. What is done with may be left out of it (see
 * {@link Journal.settle}): whoever looks for an old message asks {@link JournalView.mayLack}.
 */
export interface JournalView {
  /** The highest message number ever given out (0 for none); never goes down. */
  readonly highest: number;
  /** How many lines were ever journaled: changes with each one. */
  readonly lines: number;
  /** How many messages were ever journaled. */
  readonly total: number;
  readonly messages: readonly MessageEntry[];
  readonly pushed: readonly Extract<JournalEntry, { kind: 'pushed' }>[];
  readonly receipts: readonly Extract<JournalEntry, { kind: 'receipt' }>[];
  readonly acked: readonly Extract<JournalEntry, { kind: 'acked' }>[];
  byNumber(n: number): MessageEntry | undefined;
  /** The first with this ULID; two senders could use the same one. */
  byId(id: Ulid): MessageEntry | undefined;
  byIdFrom(sender: Handle, id: Ulid): MessageEntry | undefined;
  cursor(sender: Handle): JournaledTip | undefined;
  /** Tips of a sender's branch that were journaled, oldest first; the last one is its cursor. */
  tips(sender: Handle): readonly JournaledTip[];
  /** True where a message that is not found here may be one that is left out: {@link Journal.whole} has it then. */
  mayLack(reference: number | Ulid, sender?: Handle): boolean;
  /** The newest message from this agent of machine `own` (null: from anyone there) that is left out. */
  lastLeftOut(own: Handle, agent: AgentKey | null): Ulid | undefined;
}

/** What the rules of the mesh still need of the journal; the journal itself keeps what is recent. */
export interface StillNeeded {
  own: Handle;
  now: EpochMillis;
  message: (entry: MessageEntry) => boolean;
  /** Own commits that other machines' statements name. */
  commits: ReadonlySet<Oid>;
}

/** A line that cannot be read. `torn`: the last one, of which only the beginning is there. */
export interface JournalDamage {
  line: number;
  reason: string;
  torn?: true;
  /** Its bytes are not those that were written. */
  corrupt?: true;
}

/**
 * The arrival journal: a local, append-only file, one checksummed JSON line an entry. A torn last line (power cut) is
 * cut off by the next append; a damaged line elsewhere is skipped and reported by {@link Journal.damage}.
 */
export interface Journal {
  /** Brings the view up to date with the file (cheap: only what was appended since is read). */
  view(): Promise<JournalView>;
  /** The same with nothing left out: reads all of the file where something is, and keeps none of it. */
  whole(): Promise<JournalView>;
  /** Whether there is so much that {@link Journal.settle} would be worth its while. Cheap. */
  isLong(): Promise<boolean>;
  /**
   * Leaves what is done with out of the view from now on, in other processes too. The file stays as it is: what is kept
   * of it goes into one beside it, which whoever reads begins with. Needs no lock; does nothing while lines are damaged.
   */
  settle(needed: StillNeeded): Promise<void>;
  /**
   * Appends in one write. Only under the store lock. With `durable: false` the fsync is left to a later append: what may
   * be lost by it must be recoverable from the own branch.
   */
  append(entries: readonly JournalEntry[], options: { durable: boolean }): Promise<JournalView>;
  /** Lines that could not be read, oldest first, among those that a view is made of; with `whole`, of the whole file. */
  damage(options?: { whole: true }): Promise<readonly JournalDamage[]>;
  /**
   * Writes the file anew without the lines whose bytes were damaged, and without cursors: what the lines named is then
   * found on the branches again, under new numbers. The damaged file is kept beside it. Only under the store lock;
   * durable. Gives the number of lines that were left out; 0 where nothing was to be done.
   */
  dropDamaged(): Promise<number>;
  /**
   * Starts the numbers at `floor + 1` or above (a journal that was lost goes on above what its branch proves).
   * Only under the store lock; durable.
   */
  raiseTo(floor: number): Promise<void>;
  /** The journal's file, for watching. */
  readonly file: string;
}

/** An agent's session on this machine, in local state only. */
export interface SessionState {
  agent: AgentId;
  /** Equal to the presence record's; a session whose record is missing or older is not live. */
  checked_in_at: IsoTime;
  /** The journal's highest number at check-in: the inbox begins above it. */
  fence: number;
  /** The journal's highest number when the session before this one ended; null when there was none. */
  previous_end: number | null;
  /** Set by checkout: the journal's highest number then. */
  ended?: { n: number; at: IsoTime };
  herdr_pane: string | null;
  /** The process that checked in, when it is one that stays (an MCP server). */
  owner: ProcessIdentity | null;
}

/** Names a process so that a recycled pid is not taken for it. */
export interface ProcessIdentity {
  pid: number;
  /** Start time in milliseconds, as precise as the platform tells. */
  started_at: EpochMillis;
  /** Linux: clock ticks since boot and the boot id, which make the proof exact. */
  ticks?: string;
  boot?: string;
  /** Linux: pid namespace; a holder in another one can be neither proven dead nor alive. */
  pidns?: string;
  /** Stands for the machine (a hash of its name and id): without it, another boot proves nothing. */
  host?: string;
}

/** What a remote's last exchanges were like. Written by the round, read by everyone. */
export interface RemoteState {
  last_ok_at: IsoTime | null;
  next_try_at: IsoTime | null;
  failures: number;
  error: { name: string; message: string } | null;
  /** Branches that were not accepted, by handle, and what was wrong with which tip. */
  rejected: { handle: string; tip: Oid; kind: string; message: string }[];
  /** False where the last push was refused. */
  writable: boolean;
  /** When the last failure was: a clock that has been put back behind it shows that `next_try_at` means nothing. */
  failed_at?: IsoTime;
  /** The own tip that was refused: once the branch has moved on, the remote is asked again. */
  refused_tip?: Oid;
  /** Other machines' branches of which the remote has less than this store, or nothing. */
  behind?: BehindBranch[];
  /** When branches stood there further back than before, newest last; a few, and for a while. */
  went_back?: WentBack[];
  /** Refs under the mesh's prefix that are nothing of the mesh. */
  odd?: OddRefs;
}

/** Branches that one look at a remote found further back than an earlier one, or gone, which nothing of a mesh does. */
export interface WentBack {
  at: IsoTime;
  /** True where the charter was gone too: the repository was emptied, or made anew. */
  reset: boolean;
  count: number;
  /** The first of them, the own one before others; `to` is null where it was deleted. */
  branches: { handle: string; from: Oid; to: Oid | null }[];
  /** When all of these were seen there again. */
  back_at?: IsoTime;
}

export interface OddRefs {
  count: number;
  /** The first few, made visible. */
  first: string[];
}

/** A branch that is carried to a remote once its owner has had the time to bring it there. */
export interface BehindBranch {
  handle: string;
  /** Its tip there; null where it is missing. */
  there: Oid | null;
  /** Not carried before. */
  due_at: IsoTime;
  /** How often in a row the remote refused it. */
  refusals: number;
}

/** Why this store writes nothing until a person has decided. */
export interface Hold {
  /** `handle_conflict`: another store's branch stands under this handle. `store_copied`: a copy of this store writes too. */
  kind: 'handle_conflict' | 'store_copied';
  /** The remote where it was found. */
  remote: string;
  /** The tip of the own branch's name there. */
  tip: Oid;
  since: IsoTime;
}

/** Up to which message number a reader was told of an agent's mail. */
export interface Mentioned {
  /** Names the reader, as a client's session. */
  id: string;
  agents: Record<string, number>;
}

/** Where a store stands, by which it is told from a copy of it. Never in git. */
export interface StorePlace {
  /** Stands for the machine (a hash of its id); null where it has none that could be told. */
  host: string | null;
  path: string;
  /** Inode of the store's folder. */
  folder: number;
  /** Inode of the arrival journal; null while there is none. */
  journal: number | null;
}

/** An invitation that this machine gave out. The secret never leaves the store but in the code. */
export interface Invitation {
  id: string;
  /** 32 bytes in base64url. */
  secret: string;
  created_at: IsoTime;
  expires_at: IsoTime;
  /** Whose it became: written before that machine is admitted, so that nobody else ever is by it. */
  used?: { handle: Handle; key: string };
  /** Who came with it at once: it is known of none of them that the code was meant for it, so that it admits nobody. */
  contested?: { handle: Handle; key: string }[];
}

export interface LocalState {
  session(agent: AgentKey): Promise<SessionState | null>;
  sessions(): Promise<SessionState[]>;
  /** Agents whose session is there and cannot be read. */
  damagedSessions(): Promise<AgentKey[]>;
  /** Durable and atomic. Only under the store lock. */
  putSession(session: SessionState): Promise<void>;
  /**
   * The agent's last mesh call; kept out of git, atomic, not fsynced, needs no lock. Never goes back, but where the clock
   * was set back.
   */
  touch(agent: AgentKey, at: EpochMillis): Promise<void>;
  lastActivity(agent: AgentKey): Promise<EpochMillis | null>;
  /** Tells the worker, which may be another process, until when an agent waits; the last one who says so counts. Not durable. */
  putWaitingUntil(until: EpochMillis): Promise<void>;
  /** Null where nobody ever did. */
  waitingUntil(): Promise<EpochMillis | null>;
  remote(name: string): Promise<RemoteState | null>;
  putRemote(name: string, state: RemoteState): Promise<void>;
  /** Forgets it. Safe to repeat. */
  removeRemote(name: string): Promise<void>;
  /** Keys pinned on first sight, by handle: `ssh-ed25519 AAAA…`. */
  pins(): Promise<ReadonlyMap<Handle, string>>;
  /** What this machine gave out and is still of use; empty where it cannot be read. */
  invitations(): Promise<Invitation[]>;
  /** Durable, readable for its owner alone. Only under the store lock. */
  putInvitations(invitations: readonly Invitation[]): Promise<void>;
  hold(): Promise<Hold | null>;
  /** Durable; null lifts it. */
  putHold(hold: Hold | null): Promise<void>;
  /** What readers were told of, in the order in which they last were. */
  mentioned(): Promise<Mentioned[]>;
  /** Atomic, not durable. Only under the store lock. */
  putMentioned(readers: readonly Mentioned[]): Promise<void>;
  place(): Promise<StorePlace | null>;
  putPlace(place: StorePlace): Promise<void>;
  /** Durable. Only under the store lock. @throws MeshError `conflict` when another key is pinned for the handle. */
  pin(handle: Handle, key: string): Promise<void>;
  /** As {@link LocalState.pin} for many in one write; on an error none. */
  pinAll(added: Iterable<readonly [Handle, string]>): Promise<void>;
  /**
   * Pins the last key of each chain in the place of an earlier one of it; a machine with no key pinned, or with one that is
   * not of its chain, stays as it is. The caller has proof of the chain. Durable. Only under the store lock.
   */
  followKeys(chains: Iterable<readonly [Handle, readonly string[]]>): Promise<void>;
}

/** What a store knows of itself. */
export interface StoreConfig {
  format: number;
  mesh: { id: Ulid; name: string };
  policy: 'open' | 'roster';
  handle: Handle;
  label: string | null;
  store: Ulid;
  /** Ends in `/`, as in `refs/heads/mesh/`. */
  ref_prefix: string;
  remotes: { name: string; url: string }[];
}

/** Makes armoured SSH signatures (namespace `git`) with the machine's Ed25519 key. */
export interface Signer {
  /** `ssh-ed25519 AAAA…` */
  readonly publicKey: string;
  sign(data: Uint8Array): string;
  /** A plain Ed25519 signature (64 bytes), in no SSH envelope. */
  signBytes(data: Uint8Array): Uint8Array;
}
