import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { toIso } from '../domain/ids.js';
import { charterRef } from '../domain/layout.js';
import type { Problem } from '../domain/results.js';
import { maxSkewMs } from '../domain/skew.js';
import { examineLock } from '../store/examine-lock.js';
import { heldProblem } from '../store/ownership.js';
import { readCharter } from './charter.js';
import type { MeshContext } from './context.js';

/** An append that another process is in the middle of is over by then. */
const tornAfterMs = 250;

/** The charter of the mesh, as this store has it. */
export async function examineCharter({ store }: MeshContext): Promise<Problem[]> {
  const charter = await store.refs.read(charterRef(store.config.ref_prefix));
  if (charter === null) {
    return [
      {
        kind: 'charter_missing',
        message: 'this store has no copy of the mesh’s charter',
        fix: 'run git mesh sync',
      },
    ];
  }
  await readCharter(store.objects, charter);
  return [];
}

/** Lines of the arrival journal that cannot be read, an end that is cut off among them. */
export async function examineJournal(ctx: MeshContext): Promise<Problem[]> {
  const { journal } = ctx.store;
  let damage = await journal.damage({ whole: true });
  if (damage.some(({ torn }) => torn === true)) {
    await sleep(tornAfterMs);
    damage = await journal.damage({ whole: true });
  }
  return damage.map(({ line, reason, torn }) => ({
    kind: 'journal_damaged',
    path: 'mesh/journal',
    message: `line ${line} of the arrival journal cannot be read (${reason}) and is skipped`,
    fix:
      torn === true
        ? 'nothing needs to be done: the next entry replaces it, and what it named is journaled again'
        : 'nothing needs to be done; a message that it named is still in the mesh’s history',
  }));
}

export async function examineJournalThere({ branches, store }: MeshContext): Promise<Problem[]> {
  const own = await branches.ownBranch();
  if (own.seq <= 1 || (await store.journal.view()).cursor(own.handle) !== undefined) return [];
  return [
    {
      kind: 'journal_missing',
      path: 'mesh/journal',
      message: 'the arrival journal is missing or empty, although this machine has a history',
      fix: 'nothing needs to be done: the next command that stores something makes it again from the branches, with higher message numbers; or put it back from a backup before that',
    },
  ];
}

/** git's own lock on the own branch. */
export async function examineRefLock({ store }: MeshContext): Promise<Problem[]> {
  return examineLock(store.fs, join(store.dir, `${store.branch}.lock`), `${store.branch}.lock`);
}

/** What keeps this store from writing its branch though its disk would take it. */
export async function examineOwnership({ store }: MeshContext): Promise<Problem[]> {
  const held = await store.ownership.held();
  if (held === null) return [];
  const machine = store.config.handle;
  return [{ machine, ...heldProblem(held, { handle: machine, dir: store.dir }) }];
}

/** What lies between this store and its own branch: its key and its clock. */
export async function examineOwnBranch(ctx: MeshContext): Promise<Problem[]> {
  const { store, branches, clock } = ctx;
  const problems: Problem[] = [];
  const own = await branches.ownBranch();
  if (own.machine !== null && !(await store.key.holds(own.machine.key))) {
    problems.push({
      kind: 'key_mismatch',
      path: 'mesh/key',
      message: 'mesh/key is not the key that this machine’s branch states: nobody accepts what is signed with it',
      fix: 'put the right key back from a backup; without it, join the mesh again under another handle: git mesh join URL --machine HANDLE --dir NEWDIR',
    });
  }
  const now = clock.now();
  if (own.committedAt > now + maxSkewMs) {
    problems.push({
      kind: 'clock_behind',
      message: `this machine’s clock says ${toIso(now)}, but its newest commit is of ${toIso(own.committedAt)}`,
      fix: 'set the clock right (time synchronisation); where it was ahead before and is right now, nothing needs to be done: this ends with the next commit',
    });
  }
  return problems;
}
