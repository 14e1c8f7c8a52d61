import { branchRef, handleOfRef } from '../domain/layout.js';
import type { Handle } from '../domain/ids.js';
import type { DoctorResult, Problem } from '../domain/results.js';
import { MeshError } from '../errors.js';
import { examineFolder, orProblem } from '../store/examine-folder.js';
import { footprint } from '../store/footprint.js';
import type { MeshContext } from './context.js';
import { damagedFix, examineBranch } from './examine-branch.js';
import { standingChecks } from './examine-standing.js';
import {
  examineCharter,
  examineJournal,
  examineJournalThere,
  examineOwnBranch,
  examineRefLock,
} from './examine-store.js';
import { examineScattered } from './examine-scattered.js';
import { examineSessions } from './examine-sessions.js';
import { partialHistory } from './status.js';
import type { SyncFacts } from './status.js';

/**
 * All that is wrong: with the store's files, with the accepted branches (everything on them that is skipped when it is
 * read, with the reason), and with the remotes. Each check stands for itself, so that nothing broken hides the rest.
 */
export async function doctor(
  ctx: MeshContext,
  facts: () => Promise<SyncFacts>,
  lookThere: () => Promise<Problem[]>,
): Promise<DoctorResult> {
  const notices: Problem[] = [];
  const checks = [
    async () => {
      const found = await facts();
      notices.push(...(found.notices ?? []));
      return found.problems;
    },
    lookThere,
    () => examineFolder(ctx.store.dir, { fs: ctx.store.fs }),
    () => examineCharter(ctx),
    () => examineJournal(ctx),
    () => examineJournalThere(ctx),
    () => examineRefLock(ctx),
    () => examineOwnBranch(ctx),
    ...standingChecks.map((check) => () => check(ctx)),
    () => examineSessions(ctx),
    async () => examineScattered(await footprint(ctx.store)),
    () => examineBranches(ctx),
  ];
  const problems = new Map<string, Problem>();
  for (const check of checks) {
    for (const problem of await orProblem(check)) {
      // Several checks may meet the same failure.
      problems.set([problem.kind, problem.machine, problem.path, problem.message].join('\0'), problem);
    }
  }
  return {
    ok: problems.size === 0,
    ...(await historyOrNothing(ctx)),
    problems: [...problems.values()],
    ...(notices.length === 0 ? {} : { notices }),
  };
}

/** What keeps it from being read is one of the problems. */
async function historyOrNothing(ctx: MeshContext): ReturnType<typeof partialHistory> {
  try {
    return await partialHistory(ctx);
  } catch (error) {
    if (error instanceof MeshError) return {};
    throw error;
  }
}

async function examineBranches(ctx: MeshContext): Promise<Problem[]> {
  const { config, local } = ctx.store;
  const pins = await local.pins();
  // Of those the key is not pinned for as long as machines know different ones.
  const conflicts = await ctx.branches.conflicts();
  const problems: Problem[] = [];
  for (const handle of await handles(ctx)) {
    const ref = branchRef(config.ref_prefix, handle);
    try {
      const branch = await ctx.branches.accepted(handle);
      if (branch === null) continue;
      problems.push(...(await examineBranch(ctx, branch)));
    } catch (error) {
      if (!(error instanceof MeshError)) throw error;
      const fix = damagedFix(ctx, handle);
      problems.push({ kind: 'branch_unreadable', machine: handle, path: ref, message: error.message, fix });
      continue;
    }
    if (handle === config.handle || pins.has(handle) || conflicts.has(handle)) continue;
    problems.push({
      kind: 'key_not_pinned',
      machine: handle,
      message: `no key is pinned for ${handle} although its branch was accepted: mesh/pins.json was lost or emptied`,
      fix: 'put mesh/pins.json back from a backup; else its key is pinned again when its branch next moves, so be sure of the remote',
    });
  }
  return problems;
}

/** Those with a branch, and those that had one: a ref that cannot be read is in no list. */
async function handles({ store }: MeshContext): Promise<Handle[]> {
  const { config, local, refs } = store;
  const found = new Set<Handle>([config.handle, ...(await local.pins()).keys()]);
  for (const { ref } of await refs.list(config.ref_prefix)) {
    const handle = handleOfRef(config.ref_prefix, ref);
    if (handle !== null) found.add(handle);
  }
  return [...found].sort();
}
