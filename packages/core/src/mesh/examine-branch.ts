import { decodeAck } from '../domain/ack-record.js';
import { shellWord } from '../domain/shell-word.js';
import {
  branchRef,
  checkAck,
  checkMachine,
  checkMessage,
  checkPresence,
  checkReceipt,
  checkRoster,
  isMeshFolder,
  parsePath,
} from '../domain/layout.js';
import type { MeshPath } from '../domain/layout.js';
import { decodeMachine } from '../domain/machine.js';
import { decodeMessage } from '../domain/message-record.js';
import { decodePresence } from '../domain/presence-record.js';
import { decodeReceipt } from '../domain/receipt-record.js';
import type { Problem } from '../domain/results.js';
import { decodeRoster } from '../domain/roster-record.js';
import { walkTree } from '../domain/tree-edit.js';
import { visibleText } from '../domain/visible-text.js';
import type { Handle } from '../domain/ids.js';
import { MeshError } from '../errors.js';
import type { Branch } from './branches.js';
import { maxPresenceRecords, maxRecordBytes } from './branches.js';
import type { MeshContext } from './context.js';

/** A branch with more than this is read so far and no further. */
const maxEntries = 200_000;
const maxProblemsOfABranch = 50;

/** Everything on an accepted branch that is skipped when it is read, with the reason. */
export async function examineBranch(ctx: MeshContext, branch: Branch): Promise<Problem[]> {
  const problems: Problem[] = [];
  const own = branch.handle === ctx.branches.own;
  const report = (path: string, reason: string, fix?: string): void => {
    problems.push({
      kind: 'bad_file',
      machine: branch.handle,
      path: visibleText(path, { maxLength: 200 }),
      message: `${visibleText(path, { maxLength: 120 })} on ${branch.handle}'s branch is skipped: ${reason}`,
      fix:
        fix ??
        (own
          ? 'nothing else is hidden by it; was something else than git-mesh committed on this branch?'
          : `nothing else is hidden by it; ask whoever runs ${branch.handle} what wrote it`),
    });
  };
  if (branch.machine === null) report('machine.yaml', 'it is missing or cannot be read');
  try {
    const walk = walkTree({
      tree: branch.tree,
      readTree: (oid) => ctx.store.objects.tree(oid),
      maxEntries,
      descend: (path) => path === '' || isMeshFolder(path),
    });
    let agents = 0;
    for await (const { path, mode, oid } of walk) {
      if (path.startsWith('presence/') && ++agents === maxPresenceRecords + 1) {
        report('presence', `it has more than ${maxPresenceRecords} records; those behind them are not read`);
      }
      const reason = await reasonToSkip(ctx, branch, { path, mode, oid });
      if (reason !== null) report(path, reason.text, reason.damaged ? damagedFix(ctx, branch.handle) : undefined);
      if (problems.length >= maxProblemsOfABranch) break;
    }
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    // A tree that is too large is whole: nothing is to be fetched again.
    report('(tree)', error.message, error.errorName === 'store_damaged' ? damagedFix(ctx, branch.handle) : undefined);
  }
  return problems;
}

/** What brings back objects that this store has lost: stock git fetches them again, whatever it believes to have. */
export function damagedFix({ store }: MeshContext, handle: Handle): string {
  const ref = branchRef(store.config.ref_prefix, handle);
  const refetch = `get its objects again from a remote that has them: git --git-dir ${shellWord(store.dir)} fetch --refetch URL ${ref}`;
  return handle === store.config.handle
    ? `${refetch}; then check with git --git-dir ${shellWord(store.dir)} fsck`
    : `${refetch}; where the ref itself is damaged, delete the file ${ref} in the store and run git mesh sync`;
}

async function reasonToSkip(
  ctx: MeshContext,
  branch: Branch,
  { path, mode, oid }: { path: string; mode: string; oid: Branch['tip'] },
): Promise<{ text: string; damaged: boolean } | null> {
  const place = parsePath(path);
  if (place === null) return { text: 'nothing of the mesh belongs there', damaged: false };
  if (mode !== '100644') return { text: `it is no regular file (mode ${mode})`, damaged: false };
  try {
    const text = check(place, await ctx.store.objects.blob(oid, maxRecordBytes), { path, branch: branch.handle });
    return text === null ? null : { text, damaged: false };
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    const text = visibleText(error.message, { maxLength: 300 });
    return { text, damaged: error.errorName === 'store_damaged' };
  }
}

function check(place: MeshPath, bytes: Uint8Array, at: { path: string; branch: Branch['handle'] }): string | null {
  switch (place.kind) {
    case 'machine':
      return checkMachine(decodeMachine(bytes), at);
    case 'presence':
      return checkPresence(decodePresence(bytes), at);
    case 'message':
      return checkMessage(decodeMessage(bytes), at);
    case 'ack':
      return checkAck(decodeAck(bytes), at);
    case 'receipt':
      return checkReceipt(decodeReceipt(bytes), at);
    case 'roster':
      return checkRoster(decodeRoster(bytes), at);
  }
}
