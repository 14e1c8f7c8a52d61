import type { ParsedCommitMessage } from '../domain/commit-message.js';
import { parseMessageInput } from '../domain/inputs/message-input.js';
import type { LogInput } from '../domain/inputs.js';
import type { Handle, Oid } from '../domain/ids.js';
import type { EventLine, TraceResult } from '../domain/results.js';
import { ulidTime } from '../domain/ulid.js';
import { MeshError } from '../errors.js';
import { seqOf } from './ancestry.js';
import type { MeshContext } from './context.js';
import { eventLine } from './log.js';
import { messageId } from './message-id.js';
import { newestFirst } from './newest-first.js';
import type { WalkOptions, Walked } from './newest-first.js';
import { recalled } from './recall.js';

/** A clock that is further ahead than this when it makes a message is another's problem to find it by. */
const clockSlackMs = 86_400_000;

/** A commit of a mesh. */
type Said = Walked & { said: ParsedCommitMessage };

const isSaid = (commit: Walked): commit is Said => commit.said !== null;

/**
 * Every event of one message, oldest first, from the commits alone, pruned or not: its sending, the first receipt of each
 * machine that covers it, acknowledgements, its end. @throws MeshError `unknown_message`
 */
export async function trace(ctx: MeshContext, input: unknown, options: WalkOptions = {}): Promise<TraceResult> {
  const id = await messageId(ctx, parseMessageInput('trace', input).id);
  const about: Said[] = [];
  const receipts: Said[] = [];
  const wanted: Pick<LogInput, 'machine' | 'since'> = { machine: undefined, since: ulidTime(id) - clockSlackMs };
  for await (const commit of newestFirst(ctx, wanted, options)) {
    if (!isSaid(commit)) continue;
    if (commit.said.messages.includes(id)) about.push(commit);
    else if (commit.said.event === 'receipt') receipts.push(commit);
  }
  if (about.length === 0) {
    throw new MeshError(
      'unknown_message',
      `No commit in this store speaks of message ${id}: git mesh sync gets what is new, git mesh sync --history what is old.`,
      { data: { id } },
    );
  }
  const sent = about.find(({ said }) => said.event === 'send');
  const delivered = sent === undefined ? [] : await firstReceipts(ctx, sent, receipts);
  const n = (await recalled(ctx.store, await ctx.store.journal.view(), id, sent?.handle))?.n;
  const numbered = n === undefined ? {} : { message_id: n };
  const events = [
    ...about.map((commit) => ({ ...eventLine(commit), id, ...numbered })),
    ...delivered.map((commit) => ({ ...eventLine(commit), ...numbered })),
  ];
  return { id, events: events.reverse().sort(byPlace) };
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
async function firstReceipts(ctx: MeshContext, sent: Said, receipts: readonly Said[]): Promise<Said[]> {
  const first = new Map<Handle, Said>();
  for (const receipt of receipts) {
    const { handle, said } = receipt;
    if (sent.said.to !== '*' && sent.said.to?.split('/')[0] !== handle) continue;
    const read = said.read.find((each) => each.sender === sent.handle);
    if (read !== undefined && (await seqHere(ctx, read.commit)) >= sent.said.seq) first.set(handle, receipt);
  }
  return [...first.values()];
}

/** 0 for a commit that is not in this store, which proves nothing. */
async function seqHere({ store }: MeshContext, commit: Oid): Promise<number> {
  return (await store.objects.has(commit)) ? (seqOf(await store.objects.commit(commit)) ?? 0) : 0;
}
