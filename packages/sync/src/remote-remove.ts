import { Branches, MeshError, Store, nearestName, toIso, visibleText } from '@git-mesh/core';
import type { RemoteRemovedResult } from '@git-mesh/core';
import type { RemoveRemoteOptions } from './contract.js';
import { storeDeps } from './membership.js';
import { openMesh } from './open.js';
import { redactUrl } from './remote-url.js';

/** Takes a remote out of a store, with what was known of it. What was fetched from it stays, and so does the remote itself. */
export async function removeRemote(options: RemoveRemoteOptions): Promise<RemoteRemovedResult> {
  const { name } = options;
  const store = await Store.open(options.dir, storeDeps(options));
  let url = '';
  await store.editConfig((current) => {
    const known = current.remotes.find((remote) => remote.name === name);
    if (known === undefined) throw unknownRemote(name, current.remotes);
    url = redactUrl(known.url);
    return { ...current, remotes: current.remotes.filter((remote) => remote !== known) };
  });
  // Do not reorder: a worker's exchange that ends between the two would else write the state anew. What a crash leaves
  // here goes when a remote of this name is added.
  await store.withLock(() => forgetRemote(store, name));
  const mesh = await openMesh(options);
  try {
    return { name, url, remotes: (await mesh.api.status()).remotes };
  } finally {
    await mesh.close();
  }
}

/** What is said of a name that no remote has. */
export function unknownRemote(name: string, remotes: readonly { name: string }[]): MeshError {
  const names = remotes.map((remote) => remote.name);
  const near = nearestName(name, names);
  const known = names.length === 0 ? 'This mesh has no remote.' : `Known remotes: ${names.join(', ')}.`;
  return new MeshError(
    'not_found',
    `No remote "${visibleText(name, { maxLength: 80 })}" here. ${known}${near === null ? '' : ` Did you mean ${near}?`}`,
    { data: { remote: visibleText(name, { maxLength: 80 }), known_remotes: names } },
  );
}

/** Clears what is known of a remote: its state, and where its branches stood. Under the store lock. Safe to repeat. */
export async function forgetRemote(store: Store, name: string): Promise<void> {
  await store.local.removeRemote(name);
  if ((await store.local.hold())?.remote === name) await store.local.putHold(null);
  for (const { ref, oid } of await store.refs.list(`refs/remotes/${name}/`)) {
    try {
      await store.refs.update(ref, { expected: oid, next: null });
    } catch (error) {
      // A fetch that is still under way moves it: it then shows what was fetched last, and decides nothing.
      if (!(error instanceof MeshError) || !['conflict', 'locked'].includes(error.errorName)) throw error;
    }
  }
  // Should a remote of this name come again, nothing of ours is there yet.
  const pushed = (await store.journal.view()).pushed.findLast(({ remote }) => remote === name);
  if (pushed === undefined || pushed.seq === 0) return;
  const { tip } = await new Branches(store).ownBranch();
  await store.journal.append([{ kind: 'pushed', remote: name, commit: tip, seq: 0, at: toIso(store.clock.now()) }], {
    durable: false,
  });
}
