import { decodeAck } from '../domain/ack-record.js';
import { agentKey, toIso } from '../domain/ids.js';
import type { EpochMillis, Oid, Ulid } from '../domain/ids.js';
import { checkMessage, isMeshFolder, parsePath, receiptPath } from '../domain/layout.js';
import { decodeMessage } from '../domain/message-record.js';
import { decodeReceipt } from '../domain/receipt-record.js';
import type { MessageRecord } from '../domain/records.js';
import { diffTree } from '../domain/tree-edit.js';
import { MeshError } from '../errors.js';
import type { JournalEntry, JournalView, MessageEntry } from '../store/ports.js';
import type { Store } from '../store/store.js';
import { isAncestor } from './ancestry.js';
import { Branches, maxRecordBytes } from './branches.js';
import type { Branch } from './branches.js';
import { withEntries } from './journal-overlay.js';
import { receiptFor } from './own-receipts.js';
import { OldMessages } from './recall.js';
import { believedAcks, receiptIsOurs } from './statements.js';

/** A change at a path of a branch, from the journal's cursor to its tip. */
interface Addition {
  path: string;
  blob: Oid;
}

/** Numbers up to here are lost with a journal that was lost: what it gives out next lies above (design: at least 10,000). */
const lostJournalGap = 10_000;

/**
 * What a branch's way from the journal's cursor to its tip means for this machine, as journal entries: messages that
 * arrived, acks and receipts of own messages, and the cursor last, so that a batch that is cut short is done again.
 * Messages stand in the order of their ULIDs, which is their sender's order.
 */
export async function arrivalsOf(
  store: Store,
  branch: Branch,
  view: JournalView,
  now: EpochMillis,
): Promise<JournalEntry[]> {
  const cursor = view.cursor(branch.handle);
  if (cursor?.commit === branch.tip) return [];
  const before = cursor === undefined ? null : (await store.objects.commit(cursor.commit)).tree;
  const own = store.config.handle;
  const at = toIso(now);
  const additions = (prefix: string): AsyncGenerator<Addition> => added(store, before, branch.tree, prefix);
  const entries: JournalEntry[] = [];
  const old = new OldMessages(store, view);

  const messages = new Map<Ulid, Omit<MessageEntry, 'n'>>();
  const folders = branch.handle === own ? ['messages/'] : [`messages/${own}/`, 'messages/_all/'];
  for (const folder of folders) {
    for await (const addition of additions(folder)) {
      const record = await readMessage(store, branch, addition);
      if (record === null || (await old.find(branch.handle, record.id)) !== undefined) continue;
      // One ULID at two paths is one message, the first of them.
      if (!messages.has(record.id)) messages.set(record.id, messageEntry(record, addition, { seq: branch.seq, at }));
    }
  }
  const inOrder = [...messages.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  let n = view.highest;
  for (const message of inOrder) entries.push({ ...message, n: ++n });

  // An agent here may have acknowledged what was sent here in the very same batch.
  const seen = withEntries(view, entries);
  for await (const addition of additions(`acks/${own}/`)) {
    entries.push(...(await readAcks(store, branch, addition, { seen, old })));
  }
  if (branch.handle !== own) {
    for await (const addition of additions(receiptPath(own))) {
      const receipt = await tryDecode(() => read(store, addition.blob), decodeReceipt);
      if (receipt === null || !(await receiptIsOurs(store, receipt))) continue;
      entries.push({ kind: 'receipt', machine: branch.handle, seq: receipt.delivered_through.seq, at: receipt.at });
    }
  }
  entries.push({ kind: 'cursor', sender: branch.handle, commit: branch.tip, seq: branch.seq, at });
  return entries;
}

/**
 * Brings the journal up to the own branch: after each own commit, and after a crash between the two. Caller holds the
 * store lock. A journal that was lost, or put back from a backup, is told by a branch that proves higher numbers than
 * the journal accounts for: then see {@link rebuild}.
 */
export async function journalOwnBranch(store: Store, branch: Branch, now: EpochMillis): Promise<JournalView> {
  const view = await store.journal.view();
  const entries = await arrivalsOf(store, branch, view, now);
  const sent = entries.filter(({ kind }) => kind === 'message').length;
  const isNew = view.cursor(branch.handle) === undefined && branch.seq > 1;
  if (isNew || branch.journal > view.highest + sent) return rebuild(store, branch, view, now);
  // Not durable by itself: the own branch is, and what is lost here is found on it again.
  return entries.length === 0 ? view : store.journal.append(entries, { durable: false });
}

/**
 * Numbers go on far above the highest that the own branch proves. What is found on the accepted branches counts as
 * arrived before every open session, unless the session's fence shows that the journal still covers its check-in, or
 * the own receipts that it had not arrived before: what came with the very fetch that finds the journal lost is new.
 */
async function rebuild(store: Store, own: Branch, view: JournalView, now: EpochMillis): Promise<JournalView> {
  const floor = Math.max(own.journal, view.highest) + lostJournalGap;
  const others = (await new Branches(store).all()).filter(({ handle }) => handle !== own.handle);
  const found: JournalEntry[] = [];
  let n = floor;
  const take = async (branch: Branch): Promise<void> => {
    for (const entry of await readableArrivals(store, branch, withEntries(view, found), now)) {
      found.push(entry.kind === 'message' ? { ...entry, n: ++n } : entry);
    }
  };
  await take(own);
  for (const branch of others) {
    const old = await asReceived(store, own, branch);
    if (old !== null) await take(old);
  }
  const fence = n;
  for (const branch of others) await take(branch);
  // Do not reorder: fences are raised before there is anything above them, so that a crash shows no old mail as new.
  for (const session of await store.local.sessions()) {
    if (session.fence > view.highest) await store.local.putSession({ ...session, fence });
  }
  await store.journal.raiseTo(floor);
  return store.journal.append(found, { durable: true });
}

/**
 * A sender's branch as far as it had arrived before: by the receipt on the own branch, which every round states that
 * brings a message. Null where nothing had; the whole of it where that cannot be told.
 */
async function asReceived(store: Store, own: Branch, sender: Branch): Promise<Branch | null> {
  const through = (await receiptFor(store, own, sender.handle))?.delivered_through;
  // Without a pinned key no receipt could be stated.
  if (through === undefined) return (await store.local.pins()).has(sender.handle) ? null : sender;
  try {
    if (through.seq >= sender.seq || !(await isAncestor(store.objects, through.commit, sender.tip))) return sender;
    const { tree } = await store.objects.commit(through.commit);
    return { ...sender, tip: through.commit, tree, seq: through.seq };
  } catch (error) {
    // Without that commit nothing tells old from new.
    if (error instanceof MeshError) return sender;
    throw error;
  }
}

/** A branch that cannot be read holds up no other; it is looked at again in a round. */
export async function readableArrivals(
  store: Store,
  branch: Branch,
  view: JournalView,
  now: EpochMillis,
): Promise<JournalEntry[]> {
  try {
    return await arrivalsOf(store, branch, view, now);
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    store.logger.warn(`the branch of ${branch.handle} cannot be read: ${error.message}`);
    return [];
  }
}

function messageEntry(
  record: MessageRecord,
  addition: Addition,
  { seq, at }: { seq: number; at: string },
): Omit<MessageEntry, 'n'> {
  const { repo, reason } = record.payload;
  return {
    kind: 'message',
    id: record.id,
    sender: record.from.machine,
    agent: record.from.agent ?? null,
    to: record.to.machine,
    to_agent: record.to.agent ?? null,
    type: record.type,
    sent_at: record.sent_at,
    expires_at: record.expires_at,
    at,
    blob: addition.blob,
    path: addition.path,
    seq,
    in_reply_to: record.in_reply_to ?? null,
    repo: typeof repo === 'string' ? repo : null,
    reason: record.type === 'freeze' && typeof reason === 'string' ? reason : null,
    key: record.key ?? null,
  };
}

async function readMessage(store: Store, branch: Branch, { path, blob }: Addition): Promise<MessageRecord | null> {
  if (parsePath(path)?.kind !== 'message') return null;
  const record = await tryDecode(() => read(store, blob), decodeMessage);
  if (record === null || checkMessage(record, { path, branch: branch.handle }) !== null) return null;
  return record;
}

async function readAcks(
  store: Store,
  branch: Branch,
  { path, blob }: Addition,
  { seen, old }: { seen: JournalView; old: OldMessages },
): Promise<JournalEntry[]> {
  const place = parsePath(path);
  if (place?.kind !== 'ack') return [];
  const record = await tryDecode(() => read(store, blob), decodeAck);
  if (record?.id !== place.id) return [];
  const own = store.config.handle;
  // Of what is left out of the view, so are its acknowledgements.
  const view = seen.byIdFrom(own, record.id) === undefined ? await old.viewFor(own, record.id) : seen;
  const known = new Set(
    view.acked.filter((ack) => ack.id === record.id && ack.machine === branch.handle).map((ack) => agentKey(ack.agent)),
  );
  return believedAcks(view, { own, machine: branch.handle, record })
    .filter((ack) => !known.has(agentKey(ack.agent)))
    .map((ack) => ({ kind: 'acked', id: record.id, machine: branch.handle, agent: ack.agent, at: ack.at }));
}

const read = (store: Store, blob: Oid): Promise<Uint8Array> => store.objects.blob(blob, maxRecordBytes);

/** A record that cannot be read is doctor's to name; it hides nothing else. */
async function tryDecode<T>(bytes: () => Promise<Uint8Array>, decode: (bytes: Uint8Array) => T): Promise<T | null> {
  try {
    return decode(await bytes());
  } catch (error) {
    if (error instanceof MeshError) return null;
    throw error;
  }
}

async function* added(store: Store, before: Oid | null, after: Oid, prefix: string): AsyncGenerator<Addition> {
  const readTree = (oid: Oid): ReturnType<typeof store.objects.tree> => store.objects.tree(oid);
  // Folders that are not the mesh's were never checked: one that cannot be read must not hide what stands beside it.
  const changes = diffTree({ from: before, to: after, readTree, prefix, descend: isMeshFolder });
  for await (const change of changes) {
    if (change.after !== null && change.mode === '100644') yield { path: change.path, blob: change.after };
  }
}
