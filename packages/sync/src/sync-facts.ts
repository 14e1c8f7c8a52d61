import type { MeshContext, Problem, RemoteState, RemoteStatus, SyncFacts, SyncSummary } from '@git-mesh/core';
import { bundleRemote } from './bundle/bundle-transport.js';
import { redactUrl } from './remote-url.js';
import type { RemoteStates } from './remote-states.js';
import { readWorker } from './worker-file.js';

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
  const rejectedBy: { where: string; state: RemoteState | null }[] = [];
  for (const { name, error } of remotes) {
    if (error !== null) problems.push({ kind: error.name, message: `remote ${name}: ${error.message}` });
    rejectedBy.push({ where: `on remote ${name}`, state: await states.get(name) });
  }
  rejectedBy.push({ where: 'in an imported bundle', state: await states.get(bundleRemote) });
  for (const { where, state } of rejectedBy) {
    for (const { handle, kind, message } of state?.rejected ?? []) {
      problems.push({
        kind,
        machine: handle,
        message: `the branch of ${handle} ${where} is not accepted: ${message}`,
        fix: 'what was accepted before stays; ask whoever runs that machine, and look with `git log` at what was pushed',
      });
    }
  }
  return { worker: worker === null ? null : { state: 'running', ...worker }, remotes, problems };
}
