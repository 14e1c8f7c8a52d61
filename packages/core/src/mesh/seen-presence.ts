import { agentKey, fromIso } from '../domain/ids.js';
import type { EpochMillis, Oid } from '../domain/ids.js';
import { presencePath } from '../domain/layout.js';
import { arrivedAt } from '../domain/message-life.js';
import { believedRecord } from '../domain/presence.js';
import type { PresenceRecord } from '../domain/records.js';
import { lookupPath } from '../domain/tree-edit.js';
import { MeshError } from '../errors.js';
import type { JournaledTip } from '../store/ports.js';
import type { Branch } from './branches.js';
import type { MeshContext } from './context.js';

/** The presence records of another machine's branch, as far as they are believed here. */
export async function seenPresence(ctx: MeshContext, branch: Branch): Promise<PresenceRecord[]> {
  const now = ctx.clock.now();
  const tips = (await ctx.store.journal.view()).tips(branch.handle);
  const records: PresenceRecord[] = [];
  for (const record of await ctx.branches.presence(branch)) {
    const seenAt = tips.length === 0 ? null : await seenBeforeItsClaim(ctx, { branch, record, tips, now });
    // A branch whose tips were journaled, and none of them before the record's own time: it claims nothing impossible.
    records.push(tips.length > 0 && seenAt === null ? record : believedRecord(record, { seenAt, now }));
  }
  return records;
}

/**
 * When a tip was journaled that shows this very record although that was before the activity it claims; null where there
 * is none. The search halves the tips instead of walking them: any tip that shows the record is proof enough.
 */
async function seenBeforeItsClaim(
  ctx: MeshContext,
  given: { branch: Branch; record: PresenceRecord; tips: readonly JournaledTip[]; now: EpochMillis },
): Promise<EpochMillis | null> {
  const { branch, record, tips, now } = given;
  const path = presencePath(agentKey(record.agent));
  const blob = await ctx.branches.file(branch, path);
  const claimed = fromIso(record.last_activity_at);
  let high = tips.findLastIndex((tip) => arrivedAt(tip, now) < claimed);
  const shown = async (at: number): Promise<boolean> => blob !== null && (await showsAt(ctx, tips[at], { path, blob }));
  if (high < 0 || !(await shown(high))) return null;
  for (let low = 0; low < high;) {
    const middle = (low + high) >> 1;
    if (await shown(middle)) high = middle;
    else low = middle + 1;
  }
  const first = tips[high];
  return first === undefined ? null : arrivedAt(first, now);
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
