import type { Addressee, Handle, Oid, Ulid } from '../domain/ids.js';
import { checkMessage, messagePath } from '../domain/layout.js';
import { decodeMessage } from '../domain/message-record.js';
import type { MessageRecord } from '../domain/records.js';
import { MeshError } from '../errors.js';
import type { MeshContext } from './context.js';
import { fileAt, treeOf, treesAround } from './history-files.js';
import type { Walked } from './newest-first.js';

/** A tree in which a message's file stands, if anywhere. */
interface Place {
  tree: Oid;
  sender: Handle;
  to: readonly Addressee[];
}

/**
 * The message of this ULID that a commit speaks of, from the trees of the history: this machine's journal has only what
 * was sent here or to here, and a tip only what was not pruned. Null where it cannot be told.
 */
export async function messageInHistory(ctx: MeshContext, commit: Walked, id: Ulid): Promise<MessageRecord | null> {
  try {
    for (const { tree, sender, to } of await placesOf(ctx, commit)) {
      for (const each of to) {
        const record = await messageAt(ctx, { tree, sender, path: messagePath({ to: each, id }) });
        if (record !== null) return record;
      }
    }
    return null;
  } catch (error) {
    // A tree or a file that is no mesh's: others write what they like.
    if (error instanceof MeshError) return null;
    throw error;
  }
}

async function placesOf(ctx: MeshContext, { commit, handle, said }: Walked): Promise<Place[]> {
  if (said === null) return [];
  if (said.event === 'ack') {
    const read = await Promise.all(said.read.map(async (each) => ({ ...each, tree: await treeOf(ctx, each.commit) })));
    return read.flatMap(({ sender, tree }) => (tree === null ? [] : [{ tree, sender, to: [handle, '*'] as const }]));
  }
  const target = said.to?.split('/')[0];
  if (target === undefined) return [];
  // A target that parses is a handle or `*`, with an agent or without.
  const to = [target as Addressee];
  return (await treesAround(ctx, commit)).map((tree) => ({ tree, sender: handle, to }));
}

async function messageAt(
  ctx: MeshContext,
  { tree, sender, path }: { tree: Oid; sender: Handle; path: string },
): Promise<MessageRecord | null> {
  const bytes = await fileAt(ctx, tree, path);
  if (bytes === null) return null;
  const record = decodeMessage(bytes);
  return checkMessage(record, { path, branch: sender }) === null ? record : null;
}
