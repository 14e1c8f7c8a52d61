import type { Problem } from '../domain/results.js';
import { examineWriting } from '../store/examine-folder.js';
import type { MeshContext } from './context.js';
import { examineClocks } from './examine-clocks.js';
import { examineMembership } from './examine-membership.js';
import { examineOwnership } from './examine-store.js';
import { examineLeft } from './left.js';

/**
 * What status looks at beside the remotes. doctor runs the same list before all that only it looks at, so that it never
 * calls well what status names.
 */
export const standingChecks: readonly ((ctx: MeshContext) => Promise<Problem[]>)[] = [
  examineOwnership,
  examineLeft,
  examineMembership,
  examineClocks,
  (ctx) => examineWriting(ctx.store.dir, { fs: ctx.store.fs }),
];
