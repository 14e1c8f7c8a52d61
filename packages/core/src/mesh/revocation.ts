import type { CallOptions } from '../api.js';
import { revokeSummary } from '../domain/commit-summary.js';
import type { Handle } from '../domain/ids.js';
import { parseRevokeInput } from '../domain/inputs.js';
import { rosterPath } from '../domain/layout.js';
import type { RevokeResult } from '../domain/membership-results.js';
import { encodeRoster } from '../domain/roster-record.js';
import { MeshError } from '../errors.js';
import { keyFingerprint } from '../store/public-key.js';
import { noteActivity } from './activity.js';
import type { Branch } from './branches.js';
import type { MeshContext } from './context.js';
import { machineUnknown, requireMember } from './membership-rules.js';
import { keysOfBranch } from './standing.js';
import { commitChange, eventOf, locked, nowIso } from './write.js';

/** Says that a machine's branch is believed up to what is accepted here now, and no further. */
export async function revoke(ctx: MeshContext, input: unknown, call: CallOptions): Promise<RevokeResult> {
  const { machine, confirm } = parseRevokeInput(input);
  if (machine === ctx.branches.own) {
    throw new MeshError('invalid_argument', `${machine} is this machine: it takes itself out with \`git mesh leave\`.`);
  }
  if (confirm) await noteActivity(ctx, call, null);
  await takeInAdmitted(ctx, machine);
  try {
    return await carryOut(ctx, machine, confirm);
  } catch (error) {
    // Admitted by another process since the look before.
    if (!(error instanceof MeshError) || !(await takeInAdmitted(ctx, machine))) throw error;
    return carryOut(ctx, machine, confirm);
  }
}

async function carryOut(ctx: MeshContext, machine: Handle, confirm: boolean): Promise<RevokeResult> {
  if (!confirm) {
    const found = await toRevoke(ctx, machine);
    const next = 'Nothing has changed. Call agent_mesh_revoke again with confirm: true to believe it no further.';
    return { preview: true, ...found.result, next };
  }
  return locked(ctx, async (state) => {
    const { result, key, isStated } = await toRevoke(ctx, machine);
    if (!isStated) {
      const record = { handle: machine, key, revoked_at: nowIso(ctx), through: result.through };
      await commitChange(ctx, state, {
        edits: new Map([[rosterPath(machine), encodeRoster(record)]]),
        event: eventOf('roster', null, { summary: revokeSummary(machine, result.through.seq) }),
      });
    }
    return { preview: false, ...result };
  });
}

/** Of a machine that was admitted elsewhere or a moment ago, the branch may be on this disk and not taken in yet. */
async function takeInAdmitted(ctx: MeshContext, machine: Handle): Promise<boolean> {
  const isAdmitted = (await ctx.branches.roster()).ruling.admitted.has(machine);
  if (!isAdmitted || (await ctx.branches.accepted(machine)) !== null) return false;
  await ctx.syncer.takeIn();
  return true;
}

interface ToRevoke {
  key: string;
  result: Omit<RevokeResult, 'preview' | 'next'>;
  /** True where this machine has said so already. */
  isStated: boolean;
}

async function toRevoke(ctx: MeshContext, machine: Handle): Promise<ToRevoke> {
  await requireMember(ctx, `revoke ${machine}`);
  const branch = await believedOf(ctx, machine);
  const key = keysOfBranch(branch).at(-1);
  if (key === undefined) {
    throw new MeshError(
      'store_damaged',
      `The branch of ${machine} cannot be revoked: its machine.yaml cannot be read here. \`git mesh doctor\` names what is wrong.`,
    );
  }
  const through = { seq: branch.revoked?.seq ?? branch.seq, commit: branch.revoked?.commit ?? branch.tip };
  const binds = ctx.store.config.policy === 'roster' ? 'everywhere' : 'here';
  const own = await ctx.branches.statements.roster(await ctx.branches.ownBranch());
  const isStated = own.some(
    (said) => said.handle === machine && said.through !== undefined && said.through.seq <= through.seq,
  );
  return { key, result: { machine, key: keyFingerprint(key), through, binds }, isStated };
}

/** @throws MeshError `machine_not_found`, `conflict` where nothing of the machine is believed to begin with. */
async function believedOf(ctx: MeshContext, machine: Handle): Promise<Branch> {
  const branch = await ctx.branches.get(machine);
  if (branch !== null) return branch;
  const accepted = await ctx.branches.accepted(machine);
  const { admitted, cuts } = (await ctx.branches.roster()).ruling;
  const cut = cuts.get(machine);
  if (cut === undefined && accepted === null && admitted.has(machine)) {
    throw new MeshError(
      'conflict',
      `${machine} is admitted, and its branch has not come here, so it cannot be said up to where it is believed: run \`git mesh sync\`, then revoke it.`,
      { data: { machine } },
    );
  }
  if (cut === undefined && accepted === null) {
    const error = await machineUnknown(ctx, machine);
    const waiting = error.data['waiting'];
    if (!Array.isArray(waiting) || !waiting.includes(machine)) throw error;
  }
  const why =
    cut === undefined
      ? 'it waits to be admitted, so there is nothing to revoke. It stays so as long as no member admits it; to be rid of the request, have its branch deleted on the remote.'
      : `it was revoked by ${cut.by} before, so there is nothing to revoke.`;
  throw new MeshError('conflict', `Nothing of ${machine} is believed here: ${why}`, { data: { machine } });
}
