import { MeshError } from '@git-mesh/core';
import type { Store } from '@git-mesh/core';
import { createBranches, discover } from './membership.js';
import { plainMessage } from './redact.js';
import type { SetupRemote } from './remotes.js';

/** What became of the own branch on the remote. `reason`: why it is not there, in plain words. */
export type Announced =
  | { kind: 'done' }
  | { kind: 'taken' }
  /** The remote refuses: somebody must give the right to push. */
  | { kind: 'refused'; reason: string }
  /** It was not reached, or broke off: the next round tries again. */
  | { kind: 'lost'; reason: string };

/** Creates the own branch on the remote. What the remote has, and not what it said, tells whether it did. */
export async function announce(store: Store, remote: SetupRemote): Promise<Announced> {
  const ref = store.branch;
  let failure: Announced;
  try {
    const [result] = await createBranches(store, remote.transport, [{ ref, source: ref }]);
    if (result === undefined || result.ok) return { kind: 'done' };
    failure = { kind: 'refused', reason: result.reason ?? 'no reason given' };
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    const kind = error.errorName === 'push_refused' || error.errorName === 'auth_failed' ? 'refused' : 'lost';
    failure = { kind, reason: plainMessage(error).replace(/\.$/, '') };
  }
  try {
    const there = (await discover(remote.transport, remote.shown)).refs.get(ref);
    if (there === undefined) return failure;
    return there === (await store.refs.read(ref)) ? { kind: 'done' } : { kind: 'taken' };
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    return failure;
  }
}

/** What a machine that could not announce itself must know; for people and agents. */
export function readOnlyWarning(store: Store, announced: Announced & { reason: string }): string {
  const { handle } = store.config;
  const what =
    announced.kind === 'refused'
      ? `This machine can only read the mesh: the remote refused its branch ${store.branch} (${announced.reason}).`
      : `This machine can only read the mesh so far: its branch ${store.branch} did not reach the remote (${announced.reason}).`;
  return (
    `${what} No other machine sees it or what it sends, and its handle ${handle} is not reserved. ` +
    `Once it may push there, git mesh sync makes it a full member. If another machine takes ${handle} before that, ` +
    'join under another name with another --dir.'
  );
}
