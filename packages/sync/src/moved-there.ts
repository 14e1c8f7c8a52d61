import { StoreRefs, nodeFs } from '@git-mesh/core';
import type { ExchangeDependencies } from './exchange.js';
import type { Remote } from './remote-context.js';

/**
 * Whether the mesh's branches of a local remote differ from what was last seen and pushed there, read from its files
 * (those of a repository that keeps its refs otherwise always do). Without it each push of ours would be followed by a
 * fetch of the very same state.
 *
 * @throws what reading a share may throw: then nothing is known.
 */
export async function movedThere({ mesh, states }: ExchangeDependencies, remote: Remote): Promise<boolean> {
  const seen = states.seen(remote.name);
  const { watchable } = remote.transport;
  if (seen === null || watchable === null) return true;
  const prefix = mesh.store.config.ref_prefix;
  const now = await new StoreRefs(nodeFs, watchable).list(prefix);
  const before = [...seen.keys()].filter((ref) => ref.startsWith(prefix));
  return now.length !== before.length || now.some(({ ref, oid }) => seen.get(ref) !== oid);
}
