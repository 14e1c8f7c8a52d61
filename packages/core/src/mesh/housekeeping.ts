import { targetOf } from '../domain/commit-message.js';
import { expireSummary, pruneSummary, receiptSummary } from '../domain/commit-summary.js';
import { agentKey, toIso } from '../domain/ids.js';
import type { Oid } from '../domain/ids.js';
import { parsePath, presencePath, receiptPath } from '../domain/layout.js';
import { messagesDue } from '../domain/message-prune.js';
import type { DueMessage } from '../domain/message-prune.js';
import { presencePruneDue, renewalDue, renewedRecord } from '../domain/presence.js';
import { encodePresence } from '../domain/presence-record.js';
import { encodeReceipt } from '../domain/receipt-record.js';
import { lookupPath } from '../domain/tree-edit.js';
import type { MessageEntry } from '../store/ports.js';
import { keyFingerprint } from '../store/public-key.js';
import type { Branch } from './branches.js';
import type { MeshContext } from './context.js';
import { regularFiles } from './tree-files.js';
import { activePresence, commitChange, eventOf, locked } from './write.js';
import type { Change, Locked } from './write.js';

/** Files taken out of the tip by one commit: a backlog is worked off over several rounds. */
const maxPrunedAtOnce = 500;
const maxAckFiles = 100_000;

/**
 * What is due on the own branch: presence renewed for agents that were active since, expired presence and messages
 * taken out of the tip, acknowledgements of messages that are gone. Pruning takes files out of the tip, never out of
 * the history; the end of a message that nobody read is a commit of its own. Makes no commit where nothing is due.
 */
export async function housekeeping(ctx: MeshContext): Promise<void> {
  if (!(await anythingDue(ctx))) return;
  await locked(ctx, async (state) => {
    let now = state;
    const renewals = await dueRenewals(ctx, now.branch);
    if (renewals !== null) now = await commitChange(ctx, now, renewals);
    for (const change of expiredMessages(ctx, now)) {
      if (await isThere(ctx, now.branch, change)) now = await commitChange(ctx, now, change);
    }
    const pruned = await dueRemovals(ctx, now);
    if (pruned !== null) await commitChange(ctx, now, pruned);
  });
}

/** Decided without the lock, which an idle machine should not take every few seconds. */
async function anythingDue(ctx: MeshContext): Promise<boolean> {
  const branch = await ctx.branches.ownBranch();
  const state: Locked = { branch, journal: await ctx.store.journal.view() };
  if ((await dueRenewals(ctx, branch)) !== null || (await dueRemovals(ctx, state)) !== null) return true;
  for (const change of expiredMessages(ctx, state)) if (await isThere(ctx, branch, change)) return true;
  return false;
}

async function dueRenewals(ctx: MeshContext, branch: Branch): Promise<Change | null> {
  const now = ctx.clock.now();
  const due = (await activePresence(ctx, branch)).filter(({ record, lastActivity }) =>
    renewalDue({ record, lastActivity, now }),
  );
  const [first] = due;
  if (first === undefined) return null;
  const edits = new Map(
    due.map(({ key, record, lastActivity }) => [presencePath(key), encodePresence(renewedRecord(record, lastActivity))]),
  );
  const agent = due.length === 1 ? first.record.agent : null;
  return { edits, event: eventOf('renew', agent, { summary: due.map(({ record }) => record.agent).join(', ') }) };
}

function dueMessages(ctx: MeshContext, { journal }: Locked): DueMessage<MessageEntry>[] {
  const own = journal.messages.filter((entry) => entry.sender === ctx.branches.own);
  return messagesDue({ own, journal, now: ctx.clock.now() });
}

/** A commit each, so that the log says of every message that nobody read it. */
function expiredMessages(ctx: MeshContext, state: Locked): Change[] {
  return dueMessages(ctx, state)
    .filter(({ end }) => end === 'expire')
    .map(({ entry }) => ({
      edits: new Map([[entry.path, null]]),
      event: eventOf('expire', null, {
        messages: [entry.id],
        to: targetOf(entry.to, entry.to_agent),
        type: entry.type,
        summary: expireSummary(entry),
      }),
    }));
}

async function isThere(ctx: MeshContext, branch: Branch, change: Change): Promise<boolean> {
  for (const path of change.edits.keys()) if ((await ctx.branches.file(branch, path)) !== null) return true;
  return false;
}

async function dueRemovals(ctx: MeshContext, state: Locked): Promise<Change | null> {
  const { branch } = state;
  const now = ctx.clock.now();
  const edits = new Map<string, null>();
  const pruned: MessageEntry[] = [];
  for (const record of await ctx.branches.presence(branch)) {
    const key = agentKey(record.agent);
    const lastActivity = await ctx.store.local.lastActivity(key);
    if (presencePruneDue(record, now, lastActivity)) edits.set(presencePath(key), null);
  }
  for (const { entry, end } of dueMessages(ctx, state)) {
    if (end !== 'prune' || (await ctx.branches.file(branch, entry.path)) === null) continue;
    edits.set(entry.path, null);
    pruned.push(entry);
  }
  for (const path of await staleAcks(ctx, branch)) edits.set(path, null);
  if (edits.size === 0) return null;
  const kept = new Map([...edits].slice(0, maxPrunedAtOnce));
  const messages = pruned.filter((entry) => kept.has(entry.path)).map((entry) => entry.id);
  const count = (kind: string): number => [...kept.keys()].filter((path) => parsePath(path)?.kind === kind).length;
  const summary = pruneSummary({ messages: messages.length, presence: count('presence'), acks: count('ack') });
  return { edits: kept, event: eventOf('prune', null, { messages, summary }) };
}

/** Own acknowledgements whose message is gone from its sender's accepted tip. */
async function staleAcks(ctx: MeshContext, branch: Branch): Promise<string[]> {
  const stale: string[] = [];
  const { objects, journal } = ctx.store;
  const view = await journal.view();
  const readTree = (oid: Oid): ReturnType<typeof objects.tree> => objects.tree(oid);
  for await (const { path } of regularFiles(objects, branch.tree, 'acks/', maxAckFiles)) {
    const place = parsePath(path);
    if (place?.kind !== 'ack') continue;
    const entry = view.byIdFrom(place.sender, place.id);
    const sender = await ctx.branches.get(place.sender);
    // What cannot be told (a journal that was lost, a machine that is gone) stays.
    if (entry === undefined || sender === null) continue;
    if ((await lookupPath({ root: sender.tree, readTree, path: entry.path })) === null) stale.push(path);
  }
  return stale;
}

/**
 * States how far the given senders' branches have been fetched, in one commit. Called only in a round that journaled a
 * message for this machine: receipts never answer receipts.
 */
export async function commitReceipts(ctx: MeshContext, senders: readonly Branch[]): Promise<void> {
  if (senders.length === 0) return;
  await locked(ctx, async (state) => {
    const at = toIso(ctx.clock.now());
    const pins = await ctx.store.local.pins();
    const edits = new Map<string, Uint8Array>();
    for (const { handle, seq, tip } of senders) {
      const key = pins.get(handle);
      if (key === undefined) continue;
      edits.set(
        receiptPath(handle),
        encodeReceipt({ delivered_through: { seq, commit: tip }, at, key: keyFingerprint(key) }),
      );
    }
    const read = senders.map(({ handle, tip }) => ({ sender: handle, commit: tip }));
    const summary = receiptSummary(senders.map(({ handle, seq }) => ({ sender: handle, seq })));
    await commitChange(ctx, state, { edits, event: eventOf('receipt', null, { read, summary }) });
  });
}
