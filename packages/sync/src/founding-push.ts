import { MeshError, charterRef } from '@git-mesh/core';
import type { Store } from '@git-mesh/core';
import { createBranches, discover, meshPrefix, refInTheWay } from './membership.js';
import { plainMessage } from './redact.js';
import type { SetupRemote } from './remotes.js';
import { ownCharter } from './standing-store.js';
import type { Advertisement } from './transport/port.js';

/** What a founding came to on its remote. */
export type Founded =
  | { kind: 'done' }
  /** There is another mesh. */
  | { kind: 'lost race' }
  /** Nothing of it is there. */
  | { kind: 'refused'; error: MeshError }
  /** The charter is there without the founder's branch, or nobody can tell: what was made must stay. */
  | { kind: 'unclear'; error: MeshError };

/** Pushes what the remote lacks of the mesh that a store founded: its charter and the founder's branch. */
export async function pushFounding(store: Store, remote: SetupRemote): Promise<Founded> {
  const charter = charterRef(store.config.ref_prefix);
  let failure: MeshError;
  try {
    const there = await discover(remote.transport, remote.shown);
    const state = await standingThere(store, there);
    if (state === 'whole') return { kind: 'done' };
    if (state === 'another mesh') return { kind: 'lost race' };
    const branches = [
      ...(state === 'charter only' ? [] : [{ ref: charter, source: charter }]),
      { ref: store.branch, source: store.branch },
      // A plain `git clone` of a repository that is a mesh and nothing else shows what it is.
      ...(there.refs.size === 0 ? [{ ref: 'refs/heads/main', source: charter }] : []),
    ];
    const refused = (await createBranches(store, remote.transport, branches)).find(({ ok }) => !ok);
    // Two at once under two prefixes get in each other's way on an empty repository only.
    if (refused === undefined) return there.refs.size === 0 ? { kind: 'done' } : await whatBecame(store, remote, null);
    failure = new MeshError(
      'push_refused',
      `${remote.shown} refused ${refused.ref}: ${refused.reason ?? 'no reason given'}. ` +
        (refInTheWay(remote.shown, there, store.config.ref_prefix) ??
          'Founding a mesh needs the right to create branches there'),
    );
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    failure = error;
  }
  return whatBecame(store, remote, failure);
}

/** What the remote has, and not what it said, tells whether this mesh, another or none was founded. */
async function whatBecame(store: Store, remote: SetupRemote, failure: MeshError | null): Promise<Founded> {
  try {
    const there = await discover(remote.transport, remote.shown);
    const rival = rivalPrefix(store, there);
    const state = await standingThere(store, there);
    if (rival !== null && state !== 'another mesh') return { kind: 'unclear', error: twoMeshes(store, remote, rival) };
    switch (state) {
      case 'whole':
        return { kind: 'done' };
      case 'another mesh':
        return { kind: 'lost race' };
      case 'charter only':
        return { kind: 'unclear', error: failure ?? branchMissing(store, remote) };
      case 'nothing':
        return { kind: 'refused', error: failure ?? branchMissing(store, remote) };
    }
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    return { kind: 'unclear', error: failure ?? error };
  }
}

async function standingThere(
  store: Store,
  there: Advertisement,
): Promise<'whole' | 'charter only' | 'another mesh' | 'nothing'> {
  const charter = there.refs.get(charterRef(store.config.ref_prefix));
  if (charter === undefined) return meshPrefix(there) === null ? 'nothing' : 'another mesh';
  if (charter !== (await ownCharter(store))) return 'another mesh';
  return there.refs.has(store.branch) ? 'whole' : 'charter only';
}

/** The folder of another charter beside our own. */
function rivalPrefix(store: Store, { refs }: Advertisement): string | null {
  const own = charterRef(store.config.ref_prefix);
  const rival = refs.has(own) ? [...refs.keys()].find((ref) => ref !== own && ref.endsWith('/_charter')) : undefined;
  return rival === undefined ? null : rival.slice(0, -'_charter'.length);
}

function twoMeshes(store: Store, remote: SetupRemote, rival: string): MeshError {
  const { ref_prefix: own } = store.config;
  return new MeshError(
    'conflict',
    `two meshes were founded in ${remote.shown} at once, this one under ${own} and another under ${rival}, and a repository ` +
      `holds one: agree on which, and delete the other's branches there (this one's: git push ${remote.shown} --delete ` +
      `${charterRef(own)} ${store.branch})`,
  );
}

function branchMissing(store: Store, remote: SetupRemote): MeshError {
  return new MeshError('push_refused', `${remote.shown} took the push and does not show ${store.branch}`);
}

/** A failure with what it means for a store that was taken back. */
export function nothingMade(error: MeshError): MeshError {
  return new MeshError(error.errorName, `${plainMessage(error).replace(/\.$/, '')}. Nothing was made, here or there.`, {
    data: error.data,
    cause: error,
  });
}
