import { MeshError, charterRef, handleOfRef, isFolder } from '@git-mesh/core';
import type { Objects, Oid } from '@git-mesh/core';
import { fetchLimits, learntOf } from './remote-context.js';
import type { RoundContext } from './remote-context.js';
import { fetchPack } from './transport/fetch.js';

/** What a remote did not have is asked for again after this time. */
const askAgainAfterMs = 10 * 60_000;
const noObject = '0'.repeat(40);

/**
 * Where objects of the store were found damaged or missing: fetches all that the remote has of the mesh, whatever is here.
 * A tip names all of its history as had, so a server would leave out just what is lost: nothing is said to be here. Once
 * every branch can be read again, nothing is lost any more.
 *
 * @throws MeshError what the transport throws.
 */
export async function refetchLost(ctx: RoundContext): Promise<void> {
  const { mesh, remote, signal, logger } = ctx;
  const { config, objects } = mesh.store;
  const lost = await objects.lost.read();
  if (lost === null) return;
  const learnt = learntOf(remote);
  const asked = learnt.refetchedAt;
  if (asked !== undefined && performance.now() - asked < askAgainAfterMs) return;
  const exchange = await remote.transport.open('git-upload-pack', { signal });
  try {
    const wants: Oid[] = [];
    for (const [ref, oid] of exchange.advertised.refs) {
      const isOurs = ref === charterRef(config.ref_prefix) || handleOfRef(config.ref_prefix, ref) !== null;
      if (isOurs && oid !== noObject) wants.push(oid);
    }
    if (wants.length > 0) {
      const pack = await fetchPack(exchange, { wants, haves: [], signal, maxBytes: fetchLimits.maxPackBytes });
      await objects.installPack(pack, { maxObjectBytes: fetchLimits.maxObjectBytes });
      await objects.forget();
    }
  } finally {
    await exchange.close();
  }
  learnt.refetchedAt = performance.now();
  if (!(await isWhole(ctx))) return;
  await objects.lost.clear();
  logger.info(`what the store had lost was fetched again from remote ${remote.name}`);
}

/** Every object of every branch here can be read, the history's included. */
async function isWhole({ mesh }: RoundContext): Promise<boolean> {
  const { config, objects, refs } = mesh.store;
  const seen = new Set<Oid>();
  try {
    const edges = await objects.edges();
    for (const { oid } of await refs.list(config.ref_prefix)) {
      for (let at: Oid | undefined = oid; at !== undefined && !seen.has(at);) {
        seen.add(at);
        const commit: Awaited<ReturnType<typeof objects.commit>> = await objects.commit(at);
        await requireAll(objects, commit.tree, seen);
        at = edges.has(at) ? undefined : commit.parents[0];
      }
    }
    return true;
  } catch (error) {
    if (error instanceof MeshError) return false;
    throw error;
  }
}

/** @throws MeshError where something of it cannot be read. What was seen before is not read again. */
async function requireAll(objects: Objects, tree: Oid, seen: Set<Oid>): Promise<void> {
  if (seen.has(tree)) return;
  seen.add(tree);
  for (const entry of await objects.tree(tree)) {
    if (seen.has(entry.oid) || entry.mode === '160000') continue;
    if (isFolder(entry)) await requireAll(objects, entry.oid, seen);
    else {
      seen.add(entry.oid);
      await objects.read(entry.oid);
    }
  }
}
