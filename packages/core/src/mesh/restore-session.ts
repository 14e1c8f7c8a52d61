import { parseCommitMessage } from '../domain/commit-message.js';
import { agentKey } from '../domain/ids.js';
import type { AgentKey, Oid } from '../domain/ids.js';
import type { Store } from '../store/store.js';
import { maxCommits } from './ancestry.js';
import { Branches } from './branches.js';

/**
 * Writes a session anew whose file was damaged, from the agent's presence and the commit that announced it: that names
 * the highest message number of the time, which is where the session's inbox begins. A Herdr pane is known nowhere else
 * and has to be registered again. Only under the store lock. False where the agent is not checked in.
 */
export async function restoreSession(store: Store, agent: AgentKey): Promise<boolean> {
  const branches = new Branches(store);
  const own = await branches.ownBranch();
  const record = await branches.presenceOf(own, agent);
  if (record === null) return false;
  let at: Oid | undefined = own.tip;
  for (let steps = 0; at !== undefined && steps < maxCommits; steps++) {
    const commit: Awaited<ReturnType<typeof store.objects.commit>> = await store.objects.commit(at);
    const event = parseCommitMessage(commit.message);
    if (event?.event === 'checkin' && event.agent !== null && agentKey(event.agent) === agent) {
      await store.local.putSession({
        agent: record.agent,
        checked_in_at: record.checked_in_at,
        fence: event.journal,
        previous_end: null,
        herdr_pane: null,
        owner: null,
      });
      return true;
    }
    at = commit.parents[0];
  }
  return false;
}
