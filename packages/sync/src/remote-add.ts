import { MeshError, Store, charterRef, parseRemoteName, readCharter, sameRemoteName, shellWord } from '@git-mesh/core';
import type { Oid, RemoteAddedResult, StoreConfig } from '@git-mesh/core';
import type { AddRemoteOptions } from './contract.js';
import { deadlineSignal } from './deadline.js';
import { fetchCharter } from './fetch-charter.js';
import { admitRemote } from './remote-admission.js';
import { discover, setupLimitMs, storeDeps } from './membership.js';
import { openMesh } from './open.js';
import { forgetRemote } from './remote-remove.js';
import { sameRepository } from './remote-url.js';
import { setupTransport } from './remotes.js';
import type { SetupRemote } from './remotes.js';
import type { Advertisement } from './transport/port.js';

/** Branches that are called `_charter`, looked at to see whether a mesh is there. */
const maxCharters = 5;

/**
 * Adds a remote to a store: one that has the same mesh, no mesh, or nothing at all. Looks first; what is refused leaves
 * nothing behind. Then a first round with it brings both to the same state; a worker that runs takes it up by itself.
 */
export async function addRemote(options: AddRemoteOptions): Promise<RemoteAddedResult> {
  const name = parseRemoteName(options.name);
  const store = await Store.open(options.dir, storeDeps(options));
  const besides = store.config.remotes.map(({ url }) => url);
  const { url, dir, env, allowPublic = false } = options;
  await admitRemote({ url, dir, env, allowPublic });
  const remote = await setupTransport(url, env, { besides });
  try {
    refuseTwice(store.config, name, remote.url);
    options.onProgress?.(`looking at ${remote.shown}`);
    const found = await lookAt(store, remote);
    await store.editConfig(async (current) => {
      // Another process may have come first since we looked.
      refuseTwice(current, name, remote.url);
      // Of one that had this name, where it was taken out in the middle of an exchange.
      await forgetRemote(store, name);
      return { ...current, remotes: [...current.remotes, { name, url: remote.url }] };
    });
    options.onProgress?.('exchanging what both have');
    const mesh = await openMesh(options);
    try {
      await mesh.syncNow({ remotes: [name] });
      const { remotes, problems: all } = await mesh.api.status();
      const problems = all.filter(({ kind, message }) => told.has(kind) && message.includes(` remote ${name} `));
      const added = remotes.find((each) => each.name === name);
      return { name, url: remote.shown, found, writable: added?.state === 'ok', remotes, problems };
    } finally {
      await mesh.close();
    }
  } finally {
    await remote.dispose();
  }
}

/** What whoever adds a remote should hear of it at once. */
const told: ReadonlySet<string> = new Set(['charter_changed', 'ref_blocked']);

function refuseTwice({ remotes }: StoreConfig, name: string, url: string): void {
  const named = remotes.find((remote) => sameRemoteName(remote.name, name));
  if (named !== undefined) {
    throw new MeshError(
      'conflict',
      `There is a remote ${named.name} already: choose another name, or take that one out first with \`git mesh remote remove ${named.name}\`.`,
      { data: { remote: named.name } },
    );
  }
  const same = remotes.find((remote) => sameRepository(remote.url, url));
  if (same !== undefined) {
    throw new MeshError('conflict', `That repository is a remote already, under the name ${same.name}.`, {
      data: { remote: same.name },
    });
  }
}

/** @throws MeshError `different_mesh`; what {@link discover} throws. */
async function lookAt(store: Store, remote: SetupRemote): Promise<RemoteAddedResult['found']> {
  const there = await discover(remote.transport);
  if (there.refs.size === 0) return 'empty';
  const ours = charterRef(store.config.ref_prefix);
  const tip = there.refs.get(ours);
  if (tip !== undefined) {
    const mesh = await charterAt(store, remote, tip);
    if (mesh?.id !== store.config.mesh.id) throw differentMesh(remote, mesh?.name ?? null);
    return 'mesh';
  }
  for (const oid of otherCharters(there)) {
    const mesh = await charterAt(store, remote, oid);
    if (mesh === null) continue;
    if (mesh.id !== store.config.mesh.id) throw differentMesh(remote, mesh.name);
    throw new MeshError(
      'conflict',
      `${remote.shown} has this mesh under another prefix than this store (${store.config.ref_prefix}): nothing was stored. Every remote of a mesh has its branches under the same one.`,
    );
  }
  return 'repository';
}

function otherCharters({ refs }: Advertisement): Oid[] {
  return [...refs]
    .filter(([ref]) => ref.endsWith('/_charter'))
    .slice(0, maxCharters)
    .map(([, oid]) => oid);
}

/** The mesh whose charter that is; null where it is none. Its objects stay in the store, on no ref. */
async function charterAt(store: Store, remote: SetupRemote, tip: Oid): Promise<StoreConfig['mesh'] | null> {
  const { signal, done } = deadlineSignal(setupLimitMs);
  try {
    if (!(await store.objects.has(tip))) {
      try {
        await fetchCharter(store, remote.transport, tip, signal);
      } catch (error) {
        if (error instanceof MeshError && error.errorName === 'payload_too_large') return null;
        throw error;
      }
    }
    const { mesh, name } = await readCharter(store.objects, tip);
    return { id: mesh, name };
  } catch (error) {
    // Somebody's branch that happens to be called so.
    if (error instanceof MeshError && noCharter.has(error.errorName)) return null;
    throw error;
  } finally {
    done();
  }
}

const noCharter: ReadonlySet<string> = new Set(['invalid_argument', 'not_found', 'store_damaged']);

function differentMesh(remote: SetupRemote, name: string | null): MeshError {
  const which = name === null ? 'has a charter that cannot be read' : `holds another mesh ("${name}")`;
  return new MeshError(
    'different_mesh',
    `${remote.shown} ${which}: nothing was stored. A store belongs to one mesh; join the other one with a store of its own (\`git mesh --dir DIR join ${shellWord(remote.shown)}\`).`,
  );
}
