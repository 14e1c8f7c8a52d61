import { targetOf } from '../domain/commit-message.js';
import { expireSummary, pruneSummary } from '../domain/commit-summary.js';
import { agentKey, toIso } from '../domain/ids.js';
import type { AgentKey } from '../domain/ids.js';
import { presencePath } from '../domain/layout.js';
import { messagesDue } from '../domain/message-prune.js';
import type { DueMessage } from '../domain/message-prune.js';
import { effectiveExpiry, presencePruneDue } from '../domain/presence.js';
import type { PresenceRecord } from '../domain/records.js';
import type { MessageEntry } from '../store/ports.js';
import { ownMessagesInTip, staleAcks } from './in-tip.js';
import type { MeshContext } from './context.js';
import { writesNothing } from './left.js';
import { stateMissingReceipts } from './receipts.js';
import { dueRenewals, renewalFiles } from './renewals.js';
import { lastActivityOf, numberBefore } from './sessions.js';
import { commitChange, eventOf, locked } from './write.js';
import { together } from './run.js';
import type { Locked } from './run.js';
import type { Change } from './write.js';

/** Files taken out of the tip by one commit: a backlog is worked off over several rounds. */
const maxPrunedAtOnce = 500;
/** A commit each: nobody should wait long for the store meanwhile. */
const maxExpiredAtOnce = 50;

/** What leaves the own branch's tip. */
interface Leaving {
  /** Nobody read them: a commit each, so that the log says so of every one. */
  expired: MessageEntry[];
  pruned: MessageEntry[];
  presence: { key: AgentKey; record: PresenceRecord; expiredAt: number }[];
  /** Paths of acknowledgements. */
  acks: readonly string[];
}

/**
 * What is due on the own branch: receipts that a crash kept from being stated, presence renewed for agents that were active since, expired presence and messages
 * taken out of the tip, acknowledgements of messages that are gone. Pruning takes files out of the tip, never out of
 * the history; the end of a message that nobody read is a commit of its own. Makes no commit where nothing is due.
 */
export async function housekeeping(ctx: MeshContext): Promise<void> {
  if (await writesNothing(ctx)) return;
  // Decided without the lock, which an idle machine should not take every few seconds.
  await stateMissingReceipts(ctx);
  const branch = await ctx.branches.ownBranch();
  const journal = await ctx.store.journal.view();
  const renewals = await dueRenewals(ctx, branch);
  if (renewals.length === 0 && isNothing(await leaving(ctx, { branch, journal }))) {
    return;
  }
  await locked(ctx, async (state) => {
    const now = await commitRenewals(ctx, state);
    await commitLeaving(ctx, now, await leaving(ctx, now));
  });
}

/** Publishes the renewals that are due, and nothing else; nothing at all where this store does not write. */
export async function renew(ctx: MeshContext): Promise<void> {
  if (await writesNothing(ctx)) return;
  await locked(ctx, (state) => commitRenewals(ctx, state));
}

async function commitRenewals(ctx: MeshContext, state: Locked): Promise<Locked> {
  const due = await dueRenewals(ctx, state.branch);
  const [first] = due;
  if (first === undefined) return state;
  const agent = due.length === 1 ? first.record.agent : null;
  const summary = due.map(({ record }) => record.agent).join(', ');
  return commitChange(ctx, state, {
    edits: renewalFiles(due, ctx.clock.now()),
    event: eventOf('renew', agent, { summary }),
  });
}

async function leaving(ctx: MeshContext, { branch, journal }: Locked): Promise<Leaving> {
  const now = ctx.clock.now();
  const presence: Leaving['presence'] = [];
  for (const record of await ctx.branches.presence(branch)) {
    const key = agentKey(record.agent);
    const lastActivity = await lastActivityOf(ctx, key);
    if (!presencePruneDue(record, now, lastActivity)) continue;
    presence.push({ key, record, expiredAt: effectiveExpiry(record, lastActivity) });
  }
  const due = await dueMessages(ctx, { branch, journal });
  return {
    expired: due.filter(({ end }) => end === 'expire').map(({ entry }) => entry),
    pruned: due.filter(({ end }) => end === 'prune').map(({ entry }) => entry),
    presence,
    acks: await staleAcks(ctx, branch, journal),
  };
}

async function dueMessages(ctx: MeshContext, { branch, journal }: Locked): Promise<DueMessage<MessageEntry>[]> {
  const now = ctx.clock.now();
  const first = await ctx.branches.firstDue.get({ branch, journal, now }, () => ownMessagesInTip(ctx, branch, journal));
  if (now < first) return [];
  return messagesDue({ own: await ownMessagesInTip(ctx, branch, journal), journal, now });
}

const isNothing = ({ expired, pruned, presence, acks }: Leaving): boolean =>
  expired.length + pruned.length + presence.length + acks.length === 0;

async function commitLeaving(ctx: MeshContext, state: Locked, due: Leaving): Promise<void> {
  const now = await together(ctx, state, async (before) => {
    let each = before;
    for (const entry of due.expired.slice(0, maxExpiredAtOnce)) each = await commitChange(ctx, each, expiry(entry));
  });
  const presence = due.presence.slice(0, maxPrunedAtOnce);
  const pruned = due.pruned.slice(0, maxPrunedAtOnce - presence.length);
  const acks = due.acks.slice(0, maxPrunedAtOnce - presence.length - pruned.length);
  if (presence.length + pruned.length + acks.length === 0) return;
  // Before its record is gone: the agent's next check-in tells from it what it missed.
  for (const each of presence) await endSession(ctx, now, each);
  const paths = [...presence.map(({ key }) => presencePath(key)), ...pruned.map(({ path }) => path), ...acks];
  const summary = pruneSummary({ messages: pruned.length, presence: presence.length, acks: acks.length });
  await commitChange(ctx, now, {
    edits: new Map(paths.map((path) => [path, null])),
    event: eventOf('prune', null, { messages: pruned.map(({ id }) => id), summary }),
  });
}

function expiry(entry: MessageEntry): Change {
  return {
    edits: new Map([[entry.path, null]]),
    event: eventOf('expire', null, {
      messages: [entry.id],
      to: targetOf(entry.to, entry.to_agent),
      type: entry.type,
      summary: expireSummary(entry),
    }),
  };
}

async function endSession(
  ctx: MeshContext,
  { journal }: Locked,
  { key, record, expiredAt }: Leaving['presence'][number],
): Promise<void> {
  const session = await ctx.store.local.session(key);
  if (session === null || session.ended !== undefined || session.checked_in_at !== record.checked_in_at) return;
  const ended = { n: numberBefore(journal, expiredAt, session.fence), at: toIso(expiredAt) };
  await ctx.store.local.putSession({ ...session, ended });
}
