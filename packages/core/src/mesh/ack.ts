import type { CallOptions } from '../api.js';
import { decodeAck, encodeAck } from '../domain/ack-record.js';
import { ackSummary } from '../domain/commit-summary.js';
import { agentKey, toIso } from '../domain/ids.js';
import type { AgentId, AgentKey, Handle, Oid, Ulid } from '../domain/ids.js';
import { parseAckInput } from '../domain/inputs.js';
import type { AckInput } from '../domain/inputs.js';
import { ackPath } from '../domain/layout.js';
import type { AckRecord } from '../domain/records.js';
import type { AckResult } from '../domain/results.js';
import { MeshError } from '../errors.js';
import type { JournalView, MessageEntry } from '../store/ports.js';
import { ackedBefore } from './acked-before.js';
import { ackedHere } from './acknowledged.js';
import { noteActivity } from './activity.js';
import type { Branch } from './branches.js';
import type { MeshContext } from './context.js';
import { inboxEntries, isAddressed } from './inbox-entries.js';
import { OldMessages } from './recall.js';
import { liveSession, requireSession } from './sessions.js';
import { inTips } from './standing-messages.js';
import { commitChange, eventOf, locked } from './write.js';

interface Sorted {
  fresh: MessageEntry[];
  already: number[];
  unknown: (number | Ulid)[];
}

/** The read receipt: it takes the messages out of this agent's inbox only, in one commit. */
export async function ack(
  ctx: MeshContext,
  input: unknown,
  call: CallOptions & { allowUlids?: boolean },
): Promise<AckResult> {
  const wanted = parseAckInput(input, { allowUlids: call.allowUlids ?? false });
  if (!wanted.confirm) {
    const sorted = await sort(ctx, wanted, await ctx.store.journal.view());
    return {
      preview: true,
      would_ack: sorted.fresh.map((entry) => entry.n),
      already_acked: sorted.already,
      unknown: numbers(sorted.unknown),
      next: 'Nothing was acknowledged. Call agent_ack again with confirm: true to do it.',
    };
  }
  await noteActivity(ctx, call, wanted.agent_id);
  return locked(ctx, async (state) => {
    const sorted = await sort(ctx, wanted, state.journal);
    if (sorted.fresh.length > 0) {
      const live = await liveSession(ctx, state.branch, agentKey(wanted.agent_id));
      const agent = live?.record.agent ?? wanted.agent_id;
      await commitChange(ctx, state, {
        edits: await ackFiles(ctx, state.branch, sorted.fresh, agent),
        event: eventOf('ack', agent, {
          messages: sorted.fresh.map((entry) => entry.id),
          read: await whatWasRead(ctx, sorted.fresh),
          summary: ackSummary({ agent, messages: sorted.fresh }),
        }),
      });
    }
    return {
      preview: false,
      acked: sorted.fresh.map((entry) => entry.n),
      already_acked: sorted.already,
      unknown: numbers(sorted.unknown),
    };
  });
}

async function sort(ctx: MeshContext, wanted: AckInput, journal: JournalView): Promise<Sorted> {
  const key = agentKey(wanted.agent_id);
  if (wanted.all) {
    const live = await requireSession(ctx, await ctx.branches.ownBranch(), wanted.agent_id);
    return { fresh: await inboxEntries(ctx, live), already: [], unknown: [] };
  }
  const acked = await ackedHere(ctx, key);
  const sorted: Sorted = { fresh: [], already: [], unknown: [] };
  const old = new OldMessages(ctx.store, journal);
  for (const reference of wanted.message_ids) {
    const entry = await old.find(undefined, reference);
    if (entry === undefined || !isAddressed(entry, ctx.branches.own, key)) sorted.unknown.push(reference);
    else if (await acked(entry)) sorted.already.push(entry.n);
    else if (!sorted.fresh.includes(entry)) sorted.fresh.push(entry);
  }
  if (sorted.unknown.length === wanted.message_ids.length) throw unknownMessages(wanted.agent_id, sorted.unknown);
  return withoutAckedBefore(ctx, key, sorted);
}

/** What is gone from its sender's tip may have been acknowledged long ago: doing it again would only fill the history. */
async function withoutAckedBefore(ctx: MeshContext, key: AgentKey, sorted: Sorted): Promise<Sorted> {
  const stands = inTips(ctx);
  const gone: MessageEntry[] = [];
  for (const entry of sorted.fresh) if (!(await stands(entry))) gone.push(entry);
  if (gone.length === 0) return sorted;
  const branch = await ctx.branches.ownBranch();
  const before = await ackedBefore(ctx, { branch, key, entries: gone });
  const again = gone.filter(({ id }) => before.has(id));
  return {
    ...sorted,
    fresh: sorted.fresh.filter((entry) => !again.includes(entry)),
    already: [...sorted.already, ...again.map((entry) => entry.n)],
  };
}

function unknownMessages(agent: AgentId, unknown: (number | Ulid)[]): MeshError {
  return new MeshError(
    'unknown_message',
    `No message ${unknown.join(', ')} is for ${agent} on this machine: use the message_id values that agent_inbox gave.`,
    { data: { agent_id: agent, unknown } },
  );
}

const numbers = (references: (number | Ulid)[]): number[] => references.filter((id) => typeof id === 'number');

async function ackFiles(
  ctx: MeshContext,
  branch: Branch,
  entries: MessageEntry[],
  agent: AgentId,
): Promise<Map<string, Uint8Array>> {
  const at = toIso(ctx.clock.now());
  const edits = new Map<string, Uint8Array>();
  for (const entry of entries) {
    const path = ackPath(entry.sender, entry.id);
    const blob = await ctx.branches.file(branch, path);
    const before = blob === null ? [] : acksIn(await ctx.branches.read(blob));
    edits.set(path, encodeAck({ id: entry.id, acks: [...before, { agent, at }] }));
  }
  return edits;
}

/** Our own file: one that cannot be read is written anew, its earlier form stays in the history. */
function acksIn(bytes: Uint8Array): AckRecord['acks'] {
  try {
    return decodeAck(bytes).acks;
  } catch (error) {
    if (error instanceof MeshError) return [];
    throw error;
  }
}

/** Ties the receipt to the very commits that were read. */
async function whatWasRead(ctx: MeshContext, entries: MessageEntry[]): Promise<{ sender: Handle; commit: Oid }[]> {
  const branches = await ctx.branches.those(new Set(entries.map((entry) => entry.sender)));
  return [...branches].map(([sender, { tip }]) => ({ sender, commit: tip }));
}
