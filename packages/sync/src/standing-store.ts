import { MeshError, Store, charterRef } from '@git-mesh/core';
import type { Oid } from '@git-mesh/core';
import type { OpenOptions } from './contract.js';
import { storeDeps } from './membership.js';
import { parseRemoteUrl, redactUrl, sameRepository } from './remote-url.js';

/**
 * The store that stands at `dir` already; null where one may be made.
 * @throws MeshError `store_unusable` where something else is in the way, and what a damaged store gives.
 */
export async function standingStore(options: OpenOptions): Promise<Store | null> {
  try {
    return await Store.open(options.dir, storeDeps(options));
  } catch (error) {
    if (!(error instanceof MeshError) || error.errorName !== 'no_mesh') throw error;
  }
  await Store.prepare(options.dir);
  return null;
}

/** Its charter's commit: what tells one mesh from another, since it is written once. */
export async function ownCharter(store: Store): Promise<Oid | null> {
  return store.refs.read(charterRef(store.config.ref_prefix));
}

/** "/a/store is machine studio of the mesh team", for messages. */
export function standing(store: Store): string {
  const { config, dir } = store;
  return `${dir} is a store already: this machine is ${config.handle} in the mesh ${config.mesh.name}`;
}

/** Whether a store has this remote, however either is written. */
export function hasRemote(store: Store, url: string): boolean {
  const asked = parseRemoteUrl(url, { cwd: process.cwd() }).url;
  return store.config.remotes.some((known) => sameRepository(known.url, asked));
}

export const remotesOf = (store: Store): string =>
  store.config.remotes.length === 0
    ? 'no remote'
    : `the remote ${store.config.remotes.map(({ url }) => redactUrl(url)).join(' and ')}`;

export function meshExists(message: string, store: Store): MeshError {
  const { config } = store;
  return new MeshError('mesh_exists', message, {
    data: { store: store.dir, machine: config.handle, mesh: config.mesh },
  });
}

/** The failure of a later step, told with what exists already and how to go on. */
export function unfinished(error: MeshError, made: string): MeshError {
  return new MeshError(
    error.errorName,
    `${made}; but ${reasonOf(error)}. Mend that, then run the same command again: it finishes what is left.`,
    {
      data: { ...error.data, unfinished: true },
      cause: error,
    },
  );
}

/** Without the words for who stored nothing. */
function reasonOf({ errorName, message }: MeshError): string {
  if (errorName === 'disk_full') return 'no space is left on the disk';
  if (errorName === 'read_only') return 'the store cannot be written (its mount, owner or mode)';
  return message.replace(/\.$/, '');
}
