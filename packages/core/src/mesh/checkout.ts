import type { CallOptions } from '../api.js';
import { parseCheckoutInput } from '../domain/inputs.js';
import { agentKey } from '../domain/ids.js';
import { presencePath } from '../domain/layout.js';
import type { CheckoutResult } from '../domain/results.js';
import { noteActivity } from './activity.js';
import type { MeshContext } from './context.js';
import { requireSession } from './sessions.js';
import { commitChange, eventOf, locked, nowIso } from './write.js';

export async function checkout(ctx: MeshContext, input: unknown, call: CallOptions): Promise<CheckoutResult> {
  const { agent_id: agent, confirm } = parseCheckoutInput(input);
  const machine = ctx.store.config.handle;
  if (!confirm) {
    const { record } = await requireSession(ctx, await ctx.branches.ownBranch(), agent);
    const next = 'Nothing has changed. Call agent_checkout again with confirm: true to leave.';
    return { preview: true, agent_id: record.agent, machine, next };
  }
  await noteActivity(ctx, call, null);
  return locked(ctx, async (state) => {
    const { key, session, record } = await requireSession(ctx, state.branch, agent);
    await commitChange(ctx, state, {
      edits: new Map([[presencePath(key), null]]),
      event: eventOf('checkout', record.agent, { summary: record.agent }),
    });
    await ctx.store.local.putSession({ ...session, ended: { n: state.journal.highest, at: nowIso(ctx) } });
    call.connection.agents.delete(agentKey(agent));
    return { preview: false, agent_id: record.agent, machine };
  });
}
