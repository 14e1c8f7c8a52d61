import { agentKey, fromIso } from '../domain/ids.js';
import type { EpochMillis, Oid } from '../domain/ids.js';
import { presencePath } from '../domain/layout.js';
import { arrivedAt } from '../domain/message-life.js';
import { believedRecord, shiftedRecord, ttlRange } from '../domain/presence.js';
import type { PresenceRecord } from '../domain/records.js';
import { lookupPath } from '../domain/tree-edit.js';
import { MeshError } from '../errors.js';
import type { JournaledTip } from '../store/ports.js';
import type { Branch } from './branches.js';
import type { MeshContext } from './context.js';
import { skewOf } from './machine-clocks.js';

/** The presence records of another machine's branch, as far as they are believed here. */
export async function seenPresence(ctx: MeshContext, branch: Branch): Promise<PresenceRecord[]> {
  const now = ctx.clock.now();
  const journal = await ctx.store.journal.view();
  const tips = journal.tips(branch.handle);
  const skewMs = await skewOf(ctx, branch, journal);
  const records: PresenceRecord[] = [];
  for (const record of await ctx.branches.presence(branch)) {
    records.push(await believed(ctx, { branch, record, tips, now, skewMs }));
  }
  return records;
}

/** No record is believed for longer than that before it is known when it was first seen: the longest ttl. */
const longestLeadMs = ttlRange.max * 1000;

async function believed(ctx: MeshContext, given: Given & { skewMs: number }): Promise<PresenceRecord> {
  const { branch, record, tips, now, skewMs } = given;
  if (tips.length === 0) {
    // Here already, and dated ahead of us: our clock is behind its machine's by that much at least.
    const leadMs = Math.max(0, branch.committedAt - now);
    const shifted = skewMs === 0 || leadMs > longestLeadMs ? record : shiftedRecord(record, -skewMs);
    return believedRecord(shifted, { seenAt: null, now });
  }
  if (skewMs < 0) {
    // Its agent lives on by as much as the clock is behind, and for no longer than its ttl after it was seen here.
    const first = await firstShowing(ctx, given, tips.length - 1);
    return believedRecord(shiftedRecord(record, -skewMs), {
      seenAt: first === null ? now : arrivedAt(first, now),
      now,
    });
  }
  // None of the journaled tips before the record's own time shows it: then it claims nothing impossible.
  const early = tips.findLastIndex((tip) => arrivedAt(tip, now) < fromIso(record.last_activity_at));
  const first = await firstShowing(ctx, given, early);
  return first === null ? record : believedRecord(record, { seenAt: arrivedAt(first, now), now });
}

interface Given {
  branch: Branch;
  record: PresenceRecord;
  tips: readonly JournaledTip[];
  now: EpochMillis;
}

/**
 * The first of the journaled tips up to the one at `last` that shows this very record; null where that one does not. The
 * search halves the tips instead of walking them: any tip that shows the record is proof enough.
 */
async function firstShowing(
  ctx: MeshContext,
  { branch, record, tips }: Given,
  last: number,
): Promise<JournaledTip | null> {
  const path = presencePath(agentKey(record.agent));
  const blob = await ctx.branches.file(branch, path);
  const shown = async (at: number): Promise<boolean> => blob !== null && (await showsAt(ctx, tips[at], { path, blob }));
  let high = last;
  if (high < 0 || !(await shown(high))) return null;
  for (let low = 0; low < high;) {
    const middle = (low + high) >> 1;
    if (await shown(middle)) high = middle;
    else low = middle + 1;
  }
  return tips[high] ?? null;
}

async function showsAt(
  { store }: MeshContext,
  tip: JournaledTip | undefined,
  { path, blob }: { path: string; blob: Oid },
): Promise<boolean> {
  if (tip === undefined) return false;
  try {
    const { tree } = await store.objects.commit(tip.commit);
    const entry = await lookupPath({ root: tree, readTree: (oid) => store.objects.tree(oid), path });
    return entry?.oid === blob;
  } catch (error) {
    // What is gone from this store proves nothing.
    if (error instanceof MeshError) return false;
    throw error;
  }
}
