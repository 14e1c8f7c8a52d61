import type { MeshContext, Problem, RemoteStatus, SyncFacts, SyncSummary } from '@git-mesh/core';
import { redactUrl } from './remote-url.js';
import type { RemoteStates } from './remote-states.js';
import { readWorker } from './worker-file.js';

const acceptedFix =
  'what was accepted before stays; ask whoever runs that machine, and look with `git log` at what was pushed';
const ownBranchFix =
  'another machine took this handle before this one could write there, or two stores use one handle: join under another name with another --dir (git mesh join URL --machine NAME --dir DIR); what is stored here stays readable';

/** What is known of each remote, without any network. */
async function remoteStatuses(mesh: MeshContext, states: RemoteStates): Promise<RemoteStatus[]> {
  const { config, journal } = mesh.store;
  const own = await mesh.branches.ownBranch();
  const { pushed } = await journal.view();
  const statuses: RemoteStatus[] = [];
  for (const { name, url } of config.remotes) {
    const state = await states.get(name);
    const reached = pushed.findLast((line) => line.remote === name)?.seq ?? 0;
    statuses.push({
      name,
      url: redactUrl(url),
      state: state === null ? 'unknown' : state.error === null ? 'ok' : 'error',
      last_ok_at: state?.last_ok_at ?? null,
      next_try_at: state?.next_try_at ?? null,
      queued: Math.max(0, own.seq - reached),
      error: state?.error ?? null,
    });
  }
  return statuses;
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
  for (const { name, error } of remotes) {
    if (error !== null) problems.push({ kind: error.name, message: `remote ${name}: ${error.message}` });
    for (const { handle, kind, message } of (await states.get(name))?.rejected ?? []) {
      problems.push({
        kind,
        machine: handle,
        message: `the branch of ${handle} on remote ${name} is not accepted: ${message}`,
        fix: kind === 'own_branch_foreign' ? ownBranchFix : acceptedFix,
      });
    }
  }
  return { worker: worker === null ? null : { state: 'running', ...worker }, remotes, problems };
}
