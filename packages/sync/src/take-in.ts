import { MeshError, charterRef, readFounding, remoteRef } from '@git-mesh/core';
import type { CharterRecord, Oid, Store } from '@git-mesh/core';
import type { JoinOptions } from './contract.js';
import { deadlineSignal } from './deadline.js';
import { fetchCharter, maxCharterBytes } from './fetch-charter.js';
import { noMeshThere } from './membership.js';
import { bringBeforeRotations, fetchHistory } from './history.js';
import { fetchFrom } from './remote-fetch.js';
import type { SetupRemote } from './remotes.js';
import { setupContext } from './setup-context.js';
import { infiniteDepth } from './transport/fetch.js';
import type { Advertisement, Transport } from './transport/port.js';
import { idleMs, watchedTransport, withHeartbeat } from './watched-transport.js';

const longestMs = 6 * 3_600_000;
/** Commits: a mesh with no more of them has its whole history on every machine. */
const wholeUpTo = 2_000;

/**
 * Fetches a mesh into a store that is being made: what is live of it, and its history where that is short. `accept` sees the charter before anything else is fetched.
 * @throws what `accept` throws, and what a fetch does.
 */
export async function takeIn(
  store: Store,
  remote: SetupRemote,
  options: Pick<JoinOptions, 'logger' | 'onProgress' | 'historyUpTo'> & {
    there: Advertisement;
    accept: (charter: CharterRecord, commit: Oid) => void;
  },
): Promise<void> {
  const { signal, done } = deadlineSignal(longestMs);
  try {
    const tip = options.there.refs.get(charterRef(store.config.ref_prefix));
    if (tip === undefined) throw noMeshThere(remote.shown, options.there);
    options.onProgress?.('fetching the mesh');
    const transport = watchedTransport(remote.transport, { idleMs, onProgress: options.onProgress });
    options.accept(await takeCharter(store, transport, tip, signal), tip);
    const mesh = setupContext(store);
    const ctx = { mesh, remote: { name: 'origin', url: remote.url, transport }, signal, logger: options.logger };
    await withHeartbeat(options.onProgress, 'fetching the mesh and checking it', async () => {
      // The tips hold all that is live, and tell how long the histories are.
      await fetchFrom({ ...ctx, depth: 1 }, []);
      if (await bringBeforeRotations(ctx)) await fetchFrom({ ...ctx, depth: 1 }, []);
      const older = (await mesh.branches.edges()).reduce((sum, edge) => sum + edge.older, 0);
      if (older > (options.historyUpTo ?? wholeUpTo)) return;
      const { problems } = await fetchHistory(ctx, { commitsAtOnce: infiniteDepth });
      for (const { message } of problems) options.logger.warn(message);
    });
  } finally {
    done();
  }
}

async function takeCharter(store: Store, transport: Transport, tip: Oid, signal: AbortSignal): Promise<CharterRecord> {
  const ref = charterRef(store.config.ref_prefix);
  try {
    await fetchCharter(store, transport, tip, signal);
  } catch (error) {
    if (!(error instanceof MeshError) || error.errorName !== 'payload_too_large') throw error;
    throw new MeshError(
      'conflict',
      `The charter at ${ref} is not believed: with commit ${tip} it takes more than ${maxCharterBytes} bytes, and a founding ` +
        `is one small commit. A member puts the right one back from its own store: git --git-dir STORE push --force REMOTE ${ref}`,
      { data: { ref, commit: tip }, cause: error },
    );
  }
  const charter = await readFounding(store.objects, tip, ref);
  await store.saveConfig({
    ...store.config,
    mesh: { id: charter.mesh, name: charter.name },
    policy: charter.policy,
  });
  await store.refs.update(ref, { expected: null, next: tip });
  await store.refs.update(remoteRef('origin', store.config.ref_prefix, '_charter'), { expected: null, next: tip });
  return charter;
}
