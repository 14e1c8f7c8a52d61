import { parseCommitMessage } from '../domain/commit-message.js';
import type { AgentKey, Ulid } from '../domain/ids.js';
import { arrivedAt } from '../domain/message-life.js';
import type { MessageEntry } from '../store/ports.js';
import type { Branch } from './branches.js';
import type { MeshContext } from './context.js';

const maxSteps = 20_000;
const maxEarly = 200;
/** A clock that was put right in between moves a commit before the arrival of what it acknowledges. */
const toleranceMs = 86_400_000;

/**
 * Which of `entries` the agent acknowledged by the own branch's history, whose tip no longer says so: an acknowledgement
 * leaves the tip once its message has left the sender's.
 */
export async function ackedBefore(
  ctx: MeshContext,
  { branch, key, entries }: { branch: Branch; key: AgentKey; entries: readonly MessageEntry[] },
): Promise<ReadonlySet<Ulid>> {
  const wanted = new Set(entries.map(({ id }) => id));
  const found = new Set<Ulid>();
  const now = ctx.clock.now();
  const since = Math.min(...entries.map((entry) => arrivedAt(entry, now))) - toleranceMs;
  const edges = await ctx.store.objects.edges();
  let next: Branch['tip'] | undefined = branch.tip;
  let early = 0;
  for (let steps = 0; next !== undefined && steps < maxSteps && found.size < wanted.size; steps++) {
    const commit = await ctx.store.objects.commit(next);
    // A clock that was set back for a while dates some commits too early: only many in a row prove the end.
    early = commit.committer.at < since ? early + 1 : 0;
    if (early > maxEarly) break;
    const event = parseCommitMessage(commit.message);
    if (event?.event === 'ack' && event.agent?.toLowerCase() === key) {
      for (const id of event.messages) if (wanted.has(id)) found.add(id);
    }
    next = edges.has(next) ? undefined : commit.parents[0];
  }
  return found;
}
