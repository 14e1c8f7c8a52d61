import { targetOf } from '../domain/commit-message.js';
import { unsendSummary } from '../domain/commit-summary.js';
import type { Ulid } from '../domain/ids.js';
import { parseMessageInput } from '../domain/inputs/message-input.js';
import { hasExpired, lookTime } from '../domain/message-life.js';
import type { UnsendResult } from '../domain/results.js';
import { MeshError } from '../errors.js';
import type { JournalView, MessageEntry } from '../store/ports.js';
import type { MeshContext } from './context.js';
import { recalling } from './recall.js';
import { withdrawnHere } from './withdrawn.js';
import { commitChange, eventOf, locked } from './write.js';

/**
 * Withdraws an own message: its file leaves the tip in a commit that says so, and with it every inbox that it stood in
 * unacknowledged. What was read is not unread by it, and the history keeps the message.
 *
 * @throws MeshError `unknown_message`; `forbidden` for another machine's; `conflict` for one that is acknowledged,
 * expired, withdrawn before, or a freeze, which a freeze-clear ends.
 */
export async function unsend(ctx: MeshContext, input: unknown): Promise<UnsendResult> {
  const { id } = parseMessageInput('unsend', input);
  return locked(ctx, async (state) => {
    const journal = await recalling(ctx.store, state.journal, id);
    const entry = ownMessage(ctx, journal, id);
    const withdrawn = await withdrawnHere(ctx, state.branch, journal);
    const reason = whyNot(ctx, { entry, journal, isWithdrawn: withdrawn(entry) });
    if (reason !== null) {
      throw new MeshError('conflict', `Message ${entry.n} is not withdrawn: ${reason}`, {
        data: { message_id: entry.n, id: entry.id },
      });
    }
    await commitChange(ctx, state, {
      edits: new Map([[entry.path, null]]),
      event: eventOf('unsend', entry.agent, {
        messages: [entry.id],
        to: targetOf(entry.to, entry.to_agent),
        type: entry.type,
        summary: unsendSummary(entry),
      }),
    });
    return { id: entry.id, message_id: entry.n, to: entry.to, to_agent: entry.to_agent, msg_type: entry.type };
  });
}

function ownMessage(ctx: MeshContext, journal: JournalView, id: Ulid | number): MessageEntry {
  const own = ctx.branches.own;
  const entry = typeof id === 'number' ? journal.byNumber(id) : (journal.byIdFrom(own, id) ?? journal.byId(id));
  if (entry === undefined) {
    throw new MeshError('unknown_message', `This machine has no message ${id}: git mesh sent lists what it sent.`, {
      data: { id },
    });
  }
  if (entry.sender === own) return entry;
  throw new MeshError(
    'forbidden',
    `Message ${entry.n} is ${entry.sender}'s: only its sender can withdraw it. To take it out of an inbox, acknowledge it.`,
    { data: { message_id: entry.n, machine: entry.sender } },
  );
}

function whyNot(
  ctx: MeshContext,
  { entry, journal, isWithdrawn }: { entry: MessageEntry; journal: JournalView; isWithdrawn: boolean },
): string | null {
  const now = ctx.clock.now();
  const readers = journal.acked.filter((ack) => ack.id === entry.id).map((ack) => `${ack.machine}/${ack.agent}`);
  if (entry.type === 'freeze') {
    return 'it is a freeze, which machines may have noted already. End it with a freeze-clear (git mesh unfreeze).';
  }
  if (readers.length > 0) return `it was read by ${readers.join(', ')}. Send another message that takes it back.`;
  if (hasExpired(entry, lookTime(now))) return 'it has expired, and stands in no inbox any more.';
  return isWithdrawn ? 'it was withdrawn before.' : null;
}
