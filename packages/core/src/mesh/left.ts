import type { IsoTime } from '../domain/ids.js';
import type { Problem } from '../domain/results.js';
import { MeshError } from '../errors.js';
import type { Branch } from './branches.js';
import type { MeshContext } from './context.js';

/** When a machine left the mesh; null while it is in it. */
export const leftAt = (branch: Branch): IsoTime | null => branch.machine?.left_at ?? null;

/** Whether nothing more is written on the own branch: another store's is in its place, this one is a copy, or it left. */
export async function writesNothing(ctx: MeshContext): Promise<boolean> {
  return (await ctx.store.ownership.held()) !== null || leftAt(await ctx.branches.ownBranch()) !== null;
}

const wayBack =
  'To take part again, join under another handle with a store of its own: git mesh join URL --machine HANDLE --dir NEWDIR';

/** @throws MeshError `machine_left` */
export function refuseLeft(own: Branch): void {
  const at = leftAt(own);
  if (at === null) return;
  throw new MeshError(
    'machine_left',
    `This machine, ${own.handle}, left the mesh at ${at}: nothing more is written, and what is here stays readable. ${wayBack}`,
    { data: { machine: own.handle, left_at: at } },
  );
}

/** For the status of a machine that left. */
export async function examineLeft({ branches }: MeshContext): Promise<Problem[]> {
  const own = await branches.get(branches.own);
  const at = own === null ? null : leftAt(own);
  if (at === null) return [];
  const message = `this machine left the mesh at ${at}: nothing more is written, and what is here stays readable`;
  return [{ kind: 'machine_left', machine: branches.own, message, fix: wayBack }];
}
