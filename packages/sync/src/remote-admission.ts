import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { MeshError, containsPath, errnoOf, visibleText } from '@git-mesh/core';
import { deadlineSignal } from './deadline.js';
import type { Env } from './git-env.js';
import { refuseToStoreSecret } from './http-url.js';
import { parseRemoteUrl, redactUrl } from './remote-url.js';
import type { Advertisement } from './transport/port.js';

export interface Admission {
  /** The remote as it was typed; a relative path counts from the working directory. */
  url: string;
  /** The store's folder, there or still to be made. */
  dir: string;
  env: Env;
  /** The user has said that everyone may read what is sent there. */
  allowPublic: boolean;
}

const askLimitMs = 20_000;

/**
 * Whether a mesh may live at this remote, for whatever is about to store its URL. Stores and changes nothing; asks the
 * network only of http(s) remotes, and only without `allowPublic`.
 *
 * @throws MeshError `invalid_argument` for a URL that holds a secret and for a remote that lies in the store or around
 * it, `not_a_repository` for another machine's store, `forbidden` for what everyone can read, and what an unreachable
 * remote gives.
 */
export async function admitRemote({ url, dir, env, allowPublic }: Admission): Promise<void> {
  const remote = parseRemoteUrl(url, { cwd: process.cwd() });
  switch (remote.kind) {
    case 'local':
      await refuseOverlap(remote.path, dir);
      if (await isThere(join(remote.path, 'mesh', 'config.json'))) throw isAStore(redactUrl(remote.url));
      return;
    case 'http':
      refuseToStoreSecret(remote.url);
      if (!allowPublic) await refusePublic(remote.url, env);
      return;
    case 'ssh':
      return;
  }
}

/**
 * By what a store shows and a shared repository does not: refs under refs/remotes that mirror a charter, or (a mesh of
 * one machine) nothing but the mesh with HEAD on a machine's branch.
 *
 * @throws MeshError `not_a_repository`
 */
export function refuseStore({ refs, head }: Advertisement, shown: string): void {
  const names = [...refs.keys()];
  const mirrors = names.some((ref) => ref.startsWith('refs/remotes/') && ref.endsWith('/_charter'));
  const folder = head === null ? null : head.slice(0, head.lastIndexOf('/') + 1);
  const solo =
    folder !== null &&
    !(head ?? '').endsWith('/_charter') &&
    names.some((ref) => ref === `${folder}_charter`) &&
    names.every((ref) => ref.startsWith(folder));
  if (mirrors || solo) throw isAStore(shown);
}

function isAStore(shown: string): MeshError {
  return new MeshError(
    'not_a_repository',
    `${shown} is the store of a git-mesh machine, which only that machine writes: expected the shared repository, a plain ` +
      'bare one. `git mesh status` on that machine names it under "remotes"; make one with: git init --bare -b main PATH',
  );
}

async function refusePublic(url: string, env: Env): Promise<void> {
  const { readableByEveryone } = await import('./transport/http.js');
  const { signal, done } = deadlineSignal(askLimitMs);
  try {
    if (!(await readableByEveryone(url, { env, signal }))) return;
  } finally {
    done();
  }
  throw new MeshError(
    'forbidden',
    `${redactUrl(url)} gives itself to anyone who asks, without a user or password: everyone could read what the agents ` +
      'write to one another there. Nothing was stored. Make that repository private or take another one; if everyone may ' +
      'read it all, say so with --allow-public.',
    { data: { readable_by_everyone: true } },
  );
}

async function refuseOverlap(remote: string, dir: string): Promise<void> {
  const [shared, store] = await Promise.all([canonical(remote), canonical(resolve(dir))]);
  if (!containsPath(shared, store) && !containsPath(store, shared)) return;
  const how =
    shared === store ? 'are one folder' : containsPath(shared, store) ? 'is in the remote' : 'holds the remote';
  throw new MeshError(
    'invalid_argument',
    `the store ${dir} ${shared === store ? `and the remote ${how}` : `${how} ${remote}`}: a store is one machine's own, the remote is ` +
      'shared by all, and neither may lie in the other; choose another --dir',
  );
}

/** With every symbolic link followed, as far as the path exists. */
async function canonical(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (errnoOf(error) === 'ENAMETOOLONG') {
      throw new MeshError(
        'invalid_argument',
        `"${visibleText(path, { maxLength: 200 })}" is no usable path: a name in it is longer than the disk takes`,
        { cause: error },
      );
    }
    if (!['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP'].includes(errnoOf(error) ?? '')) throw error;
    const above = dirname(path);
    return above === path ? path : join(await canonical(above), basename(path));
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    // Missing or unreadable: the transport says which, of the repository as a whole.
    return false;
  }
}
