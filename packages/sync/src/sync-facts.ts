import { branchRef, ownStanding, remoteAdvice, shellWord } from '@git-mesh/core';
import type {
  Handle,
  MeshContext,
  OddRefs,
  Oid,
  Problem,
  RemoteState,
  RemoteStatus,
  SyncFacts,
  SyncSummary,
} from '@git-mesh/core';
import { bundleRemote } from './bundle/bundle-transport.js';
import { redactUrl } from './remote-url.js';
import type { RemoteStates } from './remote-states.js';
import { wentBackProblems } from './went-back-problems.js';
import { readWorker } from './worker-file.js';

/** Branches of a remote that are not accepted, each told with its reason: whoever may push can make thousands of them. */
const maxTold = 50;

/** What is known of each remote, without any network. */
async function remoteStatuses(mesh: MeshContext, states: RemoteStates): Promise<RemoteStatus[]> {
  const { config, journal } = mesh.store;
  const own = await mesh.branches.ownBranch();
  const { pushed } = await journal.view();
  const statuses: RemoteStatus[] = [];
  for (const { name, url } of config.remotes) {
    const state = await states.get(name);
    const error = errorOf(state, config.handle);
    const reached = pushed.findLast((line) => line.remote === name)?.seq ?? 0;
    statuses.push({
      name,
      url: redactUrl(url),
      state: state === null ? 'unknown' : error === null ? 'ok' : 'error',
      last_ok_at: state?.last_ok_at ?? null,
      next_try_at: state?.next_try_at ?? null,
      queued: Math.max(0, own.seq - reached),
      error,
    });
  }
  return statuses;
}

/**
 * A remote that answers, but has something on the own branch which is not ours, takes nothing from us: that is an error
 * of the exchange, and no other machine's matter.
 */
function errorOf(state: RemoteState | null, own: string): RemoteStatus['error'] {
  if (state === null) return null;
  const refused = state.rejected.find(({ handle }) => handle === own);
  return state.error !== null || refused === undefined ? state.error : { name: refused.kind, message: refused.message };
}

export async function syncSummary(mesh: MeshContext, states: RemoteStates): Promise<SyncSummary> {
  const remotes = await remoteStatuses(mesh, states);
  if (remotes.length === 0) return { state: 'none', last_ok_at: null, queued: 0, error: null };
  const failed = remotes.filter(({ error }) => error !== null);
  const okTimes = remotes.map(({ last_ok_at: at }) => at).filter((at) => at !== null);
  return {
    state: failed.length === 0 ? 'ok' : failed.length === remotes.length ? 'offline' : 'partial',
    last_ok_at: okTimes.sort().at(-1) ?? null,
    queued: Math.max(...remotes.map(({ queued }) => queued)),
    error: failed[0]?.error ?? null,
  };
}

export async function syncFacts(mesh: MeshContext, states: RemoteStates): Promise<SyncFacts> {
  const worker = await readWorker(mesh.store.dir);
  const remotes = await remoteStatuses(mesh, states);
  const problems: Problem[] = [];
  const notices: Problem[] = [];
  const { handle: own } = mesh.store.config;
  const { standing } = await ownStanding(mesh);
  const isMember = standing === 'founder' || standing === 'admitted';
  const report = async (where: string, rejected: RemoteState['rejected'], known: string | null): Promise<void> => {
    const untold: RemoteState['rejected'] = [];
    for (const entry of rejected) {
      if (entry.handle === own && entry.kind === known) continue;
      // Admitted since, and taken in.
      if (entry.kind === 'not_admitted' && (await accepted(mesh, entry.handle)) === entry.tip) continue;
      untold.push(entry);
    }
    const told = untold.filter(({ handle }, at) => handle === own || handle === '_charter' || at < maxTold);
    if (told.length < untold.length) problems.push(moreRejected(where, untold.length - told.length));
    for (const { handle, tip, kind, message } of told) {
      problems.push({
        kind,
        machine: handle,
        message: `${subject(handle)} ${where} ${kind === 'ref_blocked' ? 'cannot be there' : 'is not accepted'}: ${message}`,
        fix:
          handle === own
            ? remoteAdvice({ name: kind, message })
            : rejectedAdvice(kind, { handle, tip, dir: mesh.store.dir, isMember }),
      });
    }
  };
  for (const { name, error } of remotes) {
    const rejected = (await states.get(name))?.rejected ?? [];
    if (error !== null) {
      const isOwn = rejected.some(({ handle, kind }) => handle === own && kind === error.name);
      const message = `remote ${name}: ${error.message}`;
      problems.push({
        kind: error.name,
        ...(isOwn ? { machine: own } : {}),
        message,
        fix: remoteAdvice(error),
      });
    }
    await report(`on remote ${name}`, rejected, error?.name ?? null);
    const state = await states.get(name);
    problems.push(...wentBackProblems(name, state?.went_back ?? [], own));
    if (state?.odd !== undefined) notices.push(oddProblem(name, state.odd));
  }
  await report('in an imported bundle', (await states.get(bundleRemote))?.rejected ?? [], null);
  return { worker: worker === null ? null : { state: 'running', ...worker }, remotes, problems, notices };
}

const oddProblem = (remote: string, { count, first }: OddRefs): Problem => ({
  kind: 'odd_refs',
  message: `remote ${remote} has ${count === 1 ? 'a ref' : `${count} refs`} among the branches of the mesh that are none of its machines’: ${first.join(', ')}${count > first.length ? ', …' : ''}`,
  fix: 'they are not read and harm nothing: whoever runs the repository may delete them, and look who may push there',
});
const moreRejected = (where: string, count: number): Problem => ({
  kind: 'more_rejected',
  message: `${count} more branches ${where} are not accepted`,
  fix: 'no machine of a mesh makes so many: look at what was pushed there (git ls-remote), have it deleted, and see to who may push',
});
/** Our own words, read back: the handle was one when it was written. */
const accepted = ({ store }: MeshContext, handle: string): Promise<Oid | null> =>
  store.refs.read(branchRef(store.config.ref_prefix, handle as Handle));

const subject = (handle: string): string => (handle === '_charter' ? 'the charter' : `the branch of ${handle}`);

/** What a person can do about another machine's branch that is not accepted. What was accepted before stays. */
function rejectedAdvice(
  kind: string,
  { handle, tip, dir, isMember }: { handle: string; tip: string; dir: string; isMember: boolean },
): string {
  const look = `look at what was pushed with git --git-dir ${shellWord(dir)} log ${tip.slice(0, 10)}`;
  switch (kind) {
    case 'wrong_key':
    case 'wrong_identity':
      return `ask whoever runs ${handle}: a machine that lost its key or its store has to join again under another handle; if nobody there did it, somebody else pushes under that name (${look})`;
    case 'rewritten':
      return `ask whoever runs ${handle} whether its store was restored or its branch forced; the branch goes on here once it holds again what was accepted (${look})`;
    case 'unsigned':
    case 'foreign_commit':
      return `somebody committed to the branch of ${handle} without git-mesh: ask whoever runs it, and have the branch put back to its last own commit (${look})`;
    case 'not_admitted':
      // Nobody is told to do what only a member may.
      return isMember
        ? `ask whoever runs ${handle} for its fingerprint (git mesh keys there); where it is this one, git mesh admit ${handle} admits it`
        : `nothing can be done about it here: a member has to admit ${handle}, and this machine is none`;
    case 'revoked':
      return `nothing needs to be done here: have the branch closed to that machine on the remote; git mesh admit ${handle} on the machine that revoked it takes it back`;
    case 'charter_changed':
      return `do as the message says, after asking whoever has the right to push there who changed the branch _charter (${look})`;
    case 'broken_ref':
      return `the repository there is damaged at this branch: whoever runs the server repairs or deletes the ref (git fsck there names it), and ${handle} pushes its branch again`;
    case 'too_large':
      return `nothing of a mesh is that large: ask whoever runs ${handle}; its branch goes on here once the object is gone from it`;
    case 'ref_blocked':
      return 'have that ref deleted, as the message says; the branch is put there again by itself then, and nothing of it is lost here';
    case 'unfetchable':
      return `the repository there lacks a part of this branch: whoever runs the server looks with git fsck; ${handle} can push its branch again once the broken one is deleted there`;
    default:
      return `its newest commit cannot be read: it is looked at again when the branch moves; ask whoever runs ${handle}, or the server (${look})`;
  }
}
