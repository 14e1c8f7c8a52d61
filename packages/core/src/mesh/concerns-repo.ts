import type { Handle, Ulid } from '../domain/ids.js';
import type { MessageRecord } from '../domain/records.js';
import type { MessageEntry } from '../store/ports.js';
import type { MeshContext } from './context.js';
import { messageInHistory } from './message-in-history.js';
import type { Walked } from './newest-first.js';
import { presenceInHistory } from './presence-in-history.js';
import type { OldMessages } from './recall.js';

/**
 * Whether a commit concerns a repository: one of the messages that it speaks of names it, or the session of the agent that
 * it tells of is checked in there.
 */
export async function concernsRepo(
  ctx: MeshContext,
  known: OldMessages,
  { commit, repo }: { commit: Walked; repo: string },
): Promise<boolean> {
  const { handle, said } = commit;
  if (said === null) return false;
  for (const id of said.messages) {
    const entry = await messageOf(known, { said, handle }, id);
    const named = entry === undefined ? repoOf(await messageInHistory(ctx, commit, id)) : entry.repo;
    if (named === repo) return true;
  }
  if (said.messages.length > 0) return false;
  return (await presenceInHistory(ctx, commit))?.repo === repo;
}

/** What this machine's journal has of a message that a commit of `handle` speaks of. */
export function messageOf(
  known: OldMessages,
  { said, handle }: { said: NonNullable<Walked['said']>; handle: Handle },
  id: Ulid,
): Promise<MessageEntry | undefined> {
  return known.find(said.event === 'ack' ? undefined : handle, id);
}

export function repoOf(record: MessageRecord | null): string | null {
  const repo = record?.payload['repo'];
  return typeof repo === 'string' ? repo : null;
}
