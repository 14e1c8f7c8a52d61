import { MeshError, admitInvited, housekeeping, settleJournal } from '@git-mesh/core';
import { acceptAdmitted } from './accept-admitted.js';
import { exchangeWith, lacksOwnTip } from './exchange.js';
import type { ExchangeDependencies, RoundOptions } from './exchange.js';
import { journalArrivals } from './journal-arrivals.js';
import type { Remote } from './remote-context.js';

export interface RoundDependencies extends ExchangeDependencies {
  remotes: readonly Remote[];
  /** How a remote has its turn; by {@link exchangeWith} at once where left out. */
  pass?: (remote: Remote, options: RoundOptions) => Promise<void>;
}

/** What is due here, and numbers for what a crash left without. No network. */
export async function prepare({ mesh, onJournaled }: ExchangeDependencies): Promise<void> {
  await housekeeping(mesh);
  await admitInvited(mesh);
  await takeInAdmitted({ mesh, onJournaled });
  await settleJournal(mesh);
}

/** Branches of machines that count by now, and numbers for what is in them. No network. */
export async function takeInAdmitted({
  mesh,
  onJournaled,
}: Pick<ExchangeDependencies, 'mesh'> & {
  onJournaled?: ExchangeDependencies['onJournaled'] | undefined;
}): Promise<void> {
  await acceptAdmitted(mesh);
  await journalArrivals(mesh);
  onJournaled?.();
}

/**
 * One round: what is due here, then every remote at once, each at its own pace. What one of them brought for the others
 * (receipts, and others' branches where a person asks) goes out in a second pass, in what is left of the time.
 */
export async function round(deps: RoundDependencies, options: RoundOptions): Promise<void> {
  const pass = deps.pass ?? ((remote, wanted) => exchangeWith(deps, remote, wanted));
  const start = performance.now();
  const damage = await prepareOrDamage(deps);
  await each(deps.remotes, (remote) => pass(remote, options));
  if (damage !== null) await prepare(deps);
  const deadlineMs = options.deadlineMs - (performance.now() - start);
  if (deps.remotes.length < 2 || deadlineMs <= 0 || options.signal?.aborted === true) return;
  const again: Remote[] = [];
  for (const remote of deps.remotes) if (await wantsMore(deps, remote, options)) again.push(remote);
  await each(again, (remote) => pass(remote, { ...options, deadlineMs }));
}

/** A store that lacks what only a remote has must be let to the remotes first. */
async function prepareOrDamage(deps: RoundDependencies): Promise<MeshError | null> {
  try {
    await prepare(deps);
    return null;
  } catch (error) {
    const isDamage = error instanceof MeshError && error.errorName === 'store_damaged';
    if (!isDamage || deps.remotes.length === 0) throw error;
    await deps.mesh.store.objects.lost.note([]);
    return error;
  }
}

async function wantsMore(deps: RoundDependencies, remote: Remote, options: RoundOptions): Promise<boolean> {
  const lacks = await lacksOwnTip(deps, remote);
  const state = await deps.states.get(remote.name);
  if (state?.error !== null) return false;
  return lacks || (options.ignoreBackoff && (state.behind ?? []).some(({ refusals }) => refusals === 0));
}

/** All of them to their end, whatever becomes of one. */
async function each(remotes: readonly Remote[], work: (remote: Remote) => Promise<void>): Promise<void> {
  const ends = await Promise.allSettled(remotes.map(work));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
