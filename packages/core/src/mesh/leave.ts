import type { CallOptions } from '../api.js';
import type { AgentId } from '../domain/ids.js';
import { parseLeaveInput } from '../domain/inputs.js';
import { machinePath } from '../domain/layout.js';
import { encodeMachine } from '../domain/machine.js';
import type { LeaveResult } from '../domain/membership-results.js';
import { MeshError } from '../errors.js';
import type { MeshContext } from './context.js';
import { refuseLeft } from './left.js';
import { liveSessions } from './sessions.js';
import type { LiveSession } from './sessions.js';
import { regularFiles } from './tree-files.js';
import { commitChange, eventOf, locked, nowIso } from './write.js';

/** More files than a machine's branch has presence records. */
const maxPresenceFiles = 100_000;

/**
 * Takes this machine out of the mesh for good, in one commit: its agents are checked out, and nothing is written by this
 * store any more. What it sent stays, its freezes in force until they are cleared or expire.
 */
export async function leave(ctx: MeshContext, input: unknown, call: CallOptions): Promise<LeaveResult> {
  const { confirm } = parseLeaveInput(input);
  const machine = ctx.store.config.handle;
  if (!confirm) {
    const branch = await ctx.branches.ownBranch();
    refuseLeft(branch);
    const agents = namesOf(await liveSessions(ctx, branch));
    const next = `Nothing has changed. ${consequences(ctx)} Call agent_mesh_leave again with confirm: true to leave.`;
    return { preview: true, machine, agents, next };
  }
  return locked(ctx, async (state) => {
    const record = state.branch.machine;
    if (record === null) {
      throw new MeshError(
        'store_damaged',
        `machine.yaml of ${machine} cannot be read, so it cannot say that it leaves: git mesh doctor says what is wrong`,
      );
    }
    const live = await liveSessions(ctx, state.branch);
    const at = nowIso(ctx);
    const edits = new Map<string, Uint8Array | null>([[machinePath, encodeMachine({ ...record, left_at: at })]]);
    const files = regularFiles(ctx.store.objects, state.branch.tree, 'presence/', maxPresenceFiles);
    for await (const { path } of files) edits.set(path, null);
    await commitChange(ctx, state, { edits, event: eventOf('leave', null, { summary: machine }) });
    for (const { session } of live) {
      await ctx.store.local.putSession({ ...session, ended: { n: state.journal.highest, at } });
    }
    call.connection.agents.clear();
    return { preview: false, machine, agents: namesOf(live), next: consequences(ctx) };
  });
}

function consequences({ store }: MeshContext): string {
  const { handle, policy } = store.config;
  const admitting =
    policy === 'roster' ? ' Whom it admitted stays a member, and from then on only the other members admit.' : '';
  return (
    `From then on this store writes nothing; what is in it stays readable, and the handle ${handle} is never used again. ` +
    `Its freezes stay in force until they are cleared or expire.${admitting}`
  );
}

const namesOf = (live: readonly LiveSession[]): AgentId[] => live.map(({ record }) => record.agent).sort();
