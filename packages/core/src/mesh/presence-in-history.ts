import { agentKey } from '../domain/ids.js';
import { presencePath } from '../domain/layout.js';
import { decodePresence } from '../domain/presence-record.js';
import type { PresenceRecord } from '../domain/records.js';
import { MeshError } from '../errors.js';
import type { MeshContext } from './context.js';
import { fileAt, treesAround } from './history-files.js';
import type { Walked } from './newest-first.js';

/** The presence record of the agent that a commit names, as of that commit (a checkout's: as of the one before). Null where it cannot be told. */
export async function presenceInHistory(ctx: MeshContext, { commit, said }: Walked): Promise<PresenceRecord | null> {
  const agent = said?.agent ?? null;
  if (agent === null) return null;
  const path = presencePath(agentKey(agent));
  try {
    for (const tree of await treesAround(ctx, commit)) {
      const bytes = await fileAt(ctx, tree, path);
      if (bytes !== null) return decodePresence(bytes);
    }
    return null;
  } catch (error) {
    // A tree or a file that is no mesh's: others write what they like.
    if (error instanceof MeshError) return null;
    throw error;
  }
}
