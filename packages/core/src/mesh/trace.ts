import type { ParsedCommitMessage } from '../domain/commit-message.js';
import { parseMessageInput } from '../domain/inputs/message-input.js';
import type { LogInput } from '../domain/inputs.js';
import type { Handle, Oid, Ulid } from '../domain/ids.js';
import type { EventLine, TraceResult } from '../domain/results.js';
import { ulidTime } from '../domain/ulid.js';
import { MeshError } from '../errors.js';
import { seqOf } from './ancestry.js';
import type { MeshContext } from './context.js';
import { eventLine } from './log.js';
import { newestFirst } from './newest-first.js';
import type { WalkOptions } from './newest-first.js';

/** A clock that is further ahead than this when it makes a message is another's problem to find it by. */
const clockSlackMs = 86_400_000;

/** One event with what tells its place in the message's life. */
interface Found {
  line: EventLine;
  said: ParsedCommitMessage;
}

/**
 * Every event of one message, oldest first, from the commits alone, pruned or not: its sending, the first receipt of each
 * machine that covers it, acknowledgements, its end. @throws MeshError `unknown_message`
 */
export async function trace(ctx: MeshContext, input: unknown, options: WalkOptions = {}): Promise<TraceResult> {
  const id = await ulidOf(ctx, parseMessageInput('trace', input).id);
  const about: Found[] = [];
  const receipts: Found[] = [];
  const wanted: Pick<LogInput, 'machine' | 'since'> = { machine: undefined, since: ulidTime(id) - clockSlackMs };
  for await (const commit of newestFirst(ctx, wanted, options)) {
    const { said } = commit;
    if (said?.messages.includes(id) === true) about.push({ line: { ...eventLine(commit), id }, said });
    else if (said?.event === 'receipt') receipts.push({ line: eventLine(commit), said });
  }
  const sent = about.find(({ line }) => line.event === 'send');
  if (about.length === 0) {
    throw new MeshError(
      'unknown_message',
      `No commit in this store speaks of message ${id}: git mesh sync gets what is new, git mesh sync --history what is old.`,
      { data: { id } },
    );
  }
  const delivered = sent === undefined ? [] : await firstReceipts(ctx, sent, receipts);
  const journal = await ctx.store.journal.view();
  const n = (sent === undefined ? journal.byId(id) : journal.byIdFrom(sent.line.machine, id))?.n;
  const events = [...about, ...delivered].map(({ line }) => (n === undefined ? line : { ...line, message_id: n }));
  return { id, events: events.reverse().sort(byPlace) };
}

async function ulidOf(ctx: MeshContext, id: Ulid | number): Promise<Ulid> {
  if (typeof id !== 'number') return id;
  const entry = (await ctx.store.journal.view()).byNumber(id);
  if (entry !== undefined) return entry.id;
  throw new MeshError('unknown_message', `This machine has no message number ${id}: take the ULID id of the message.`, {
    data: { message_id: id },
  });
}

/**
 * All else follows from the sending, whatever the clocks say. Then only they tell between branches, in whole seconds: what
 * one second saw stands in the order in which it can only have happened.
 */
function byPlace(a: EventLine, b: EventLine): number {
  const sending = Number(b.event === 'send') - Number(a.event === 'send');
  if (sending !== 0) return sending;
  if (a.at !== b.at) return a.at < b.at ? -1 : 1;
  return Number(b.event === 'receipt') - Number(a.event === 'receipt');
}

/** Of each machine that it was for, the first receipt of a commit that has it. `receipts` is newest first. */
async function firstReceipts(ctx: MeshContext, sent: Found, receipts: readonly Found[]): Promise<Found[]> {
  const sender = sent.line.machine;
  const first = new Map<Handle, Found>();
  for (const receipt of receipts) {
    const { machine } = receipt.line;
    if (sent.said.to !== '*' && sent.said.to?.split('/')[0] !== machine) continue;
    const read = receipt.said.read.find((each) => each.sender === sender);
    if (read !== undefined && (await seqHere(ctx, read.commit)) >= sent.said.seq) first.set(machine, receipt);
  }
  return [...first.values()];
}

/** 0 for a commit that is not in this store, which proves nothing. */
async function seqHere({ store }: MeshContext, commit: Oid): Promise<number> {
  return (await store.objects.has(commit)) ? (seqOf(await store.objects.commit(commit)) ?? 0) : 0;
}
