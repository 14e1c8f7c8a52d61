import { decodeAck } from '../domain/ack-record.js';
import {
  charterRef,
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
import { MeshError } from '../errors.js';
import type { Branch } from './branches.js';
import { maxRecordBytes } from './branches.js';
import { readCharter } from './charter.js';
import type { MeshContext } from './context.js';

/** A branch with more than this is read so far and no further. */
const maxEntries = 200_000;
const maxProblemsOfABranch = 50;

/** Everything on the accepted branches that is skipped when it is read, with the reason, and what is wrong with the store itself. */
export async function examine(ctx: MeshContext): Promise<Problem[]> {
  const problems: Problem[] = [...(await examineStore(ctx))];
  for (const branch of await ctx.branches.all()) problems.push(...(await examineBranch(ctx, branch)));
  return problems;
}

async function examineStore(ctx: MeshContext): Promise<Problem[]> {
  const problems: Problem[] = [];
  const charter = await ctx.store.refs.read(charterRef(ctx.store.config.ref_prefix));
  if (charter === null) {
    problems.push({
      kind: 'charter_missing',
      message: 'this store has no copy of the mesh’s charter',
      fix: 'run git-mesh sync',
    });
  } else {
    try {
      await readCharter(ctx.store.objects, charter);
    } catch (error) {
      if (!(error instanceof MeshError)) throw error;
      problems.push({ kind: 'charter_unreadable', message: error.message });
    }
  }
  for (const { line, reason } of await ctx.store.journal.damage()) {
    problems.push({
      kind: 'journal_damaged',
      message: `line ${line} of the arrival journal cannot be read (${reason}) and is skipped`,
      fix: 'nothing needs to be done; a message that it named is still in the mesh’s history',
    });
  }
  return problems;
}

async function examineBranch(ctx: MeshContext, branch: Branch): Promise<Problem[]> {
  const problems: Problem[] = [];
  const report = (path: string, reason: string): void => {
    problems.push({
      kind: 'bad_file',
      machine: branch.handle,
      path: visibleText(path, { maxLength: 200 }),
      message: `${visibleText(path, { maxLength: 120 })} on ${branch.handle}'s branch is skipped: ${reason}`,
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
    for await (const { path, mode, oid } of walk) {
      const reason = await reasonToSkip(ctx, branch, { path, mode, oid });
      if (reason !== null) report(path, reason);
      if (problems.length >= maxProblemsOfABranch) break;
    }
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    report('(tree)', error.message);
  }
  return problems;
}

async function reasonToSkip(
  ctx: MeshContext,
  branch: Branch,
  { path, mode, oid }: { path: string; mode: string; oid: Branch['tip'] },
): Promise<string | null> {
  const place = parsePath(path);
  if (place === null) return 'nothing of the mesh belongs there';
  if (mode !== '100644') return `it is no regular file (mode ${mode})`;
  try {
    return check(place, await ctx.store.objects.blob(oid, maxRecordBytes), { path, branch: branch.handle });
  } catch (error) {
    if (error instanceof MeshError) return visibleText(error.message, { maxLength: 300 });
    throw error;
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
