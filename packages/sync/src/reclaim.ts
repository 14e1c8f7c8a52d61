import { MeshError, Store, forkPoint, isAncestor, quarantineRef } from '@git-mesh/core';
import type { Oid, ReclaimResult } from '@git-mesh/core';
import type { ReclaimOptions } from './contract.js';
import { deadlineSignal } from './deadline.js';
import { roundLimitMs } from './exchange.js';
import { removeLeftLock, withLocks } from './left-lock.js';
import { storeDeps } from './membership.js';
import { moveRef } from './move-ref.js';
import { newObjects } from './new-objects.js';
import { readableCommit } from './readable-commit.js';
import { openMesh } from './open.js';
import { unknownRemote } from './remote-remove.js';
import { requireAccepted } from './remote-push.js';
import { redactUrl } from './remote-url.js';
import { setupTransport } from './remotes.js';
import { pushRefs } from './transport/push.js';
import type { Transport } from './transport/port.js';

/**
 * This store is the one that goes on under its handle: a person says so. Takes back from the remote what is this
 * machine's own, and replaces whatever else stands there under its name: exactly the tip that was looked at, which is kept
 * under refs/quarantine first. Nothing else in git-mesh ever forces. Safe to repeat.
 */
export async function reclaimBranch(options: ReclaimOptions): Promise<ReclaimResult> {
  const { dir, env, remote: name } = options;
  const store = await Store.open(dir, storeDeps(options));
  const known = store.config.remotes.find((remote) => remote.name === name);
  if (known === undefined) throw unknownRemote(name, store.config.remotes);
  await store.withLock(() => store.ownership.claim());
  await exchange(options);
  const besides = store.config.remotes.filter((remote) => remote !== known).map(({ url }) => url);
  const remote = await setupTransport(known.url, env, { besides });
  try {
    await removeLeftLock(store, { name, transport: remote.transport }, options.logger);
    const replaced = await replaceForeign(store, { name, transport: remote.transport });
    // What was found in the exchange before is settled by that; the next one notes what is there now.
    await store.withLock(() => store.ownership.claim());
    const { state, error } = await exchange(options);
    return {
      remote: name,
      url: redactUrl(known.url),
      machine: store.config.handle,
      tip: await ownTip(store),
      replaced: replaced?.tip ?? null,
      kept_as: replaced?.keptAs ?? null,
      sync: { state, error },
    };
  } finally {
    await remote.dispose();
  }
}

async function exchange(options: ReclaimOptions): Promise<ReclaimResult['sync']> {
  const mesh = await openMesh(options);
  try {
    return await mesh.syncNow({ remotes: [options.remote] });
  } finally {
    await mesh.close();
  }
}

async function ownTip(store: Store): Promise<Oid> {
  const tip = await store.refs.read(store.branch);
  if (tip !== null) return tip;
  throw new MeshError('store_damaged', `this store has no branch of its own (${store.branch}): run git mesh doctor`);
}

/** Null where the remote has nothing of the own branch that is not this store's. */
async function replaceForeign(
  store: Store,
  remote: { name: string; transport: Transport },
): Promise<{ tip: Oid; keptAs: string } | null> {
  const { branch, config, objects } = store;
  const { signal, done } = deadlineSignal(roundLimitMs);
  try {
    const exchange = await remote.transport.open('git-receive-pack', { signal });
    try {
      const there = exchange.advertised.refs.get(branch) ?? null;
      const own = await ownTip(store);
      if (there === null || there === own) return null;
      if (!(await objects.has(there))) {
        throw new MeshError(
          'conflict',
          `the branch on remote ${remote.name} is at ${there.slice(0, 12)}, which could not be fetched and so cannot be kept: nothing was replaced; run git mesh sync, then try again`,
        );
      }
      const isCommit = (await readableCommit(objects, there)) !== null;
      if (isCommit && (await isAncestor(objects, there, own))) return null;
      const keptAs = quarantineRef(config.handle, there);
      // Do not reorder: what is replaced there is kept here first.
      await moveRef(store, keptAs, there);
      const pack = await objects.pack(
        await newObjects(objects, isCommit ? await forkPoint(objects, there, own) : null, own),
      );
      const updates = [{ ref: branch, expected: there, next: own }];
      const results = await pushRefs(exchange, { updates, pack, atomic: false, signal });
      requireAccepted(await withLocks(results, remote.transport, branch), remote.name);
      return { tip: there, keptAs };
    } finally {
      await exchange.close();
    }
  } finally {
    done();
  }
}
