import { agentKey } from '../domain/ids.js';
import type { AgentKey, EpochMillis } from '../domain/ids.js';
import { presencePath } from '../domain/layout.js';
import { renewalDue, renewedRecord, rideAlong } from '../domain/presence.js';
import { encodePresence } from '../domain/presence-record.js';
import type { PresenceRecord } from '../domain/records.js';
import type { Branch } from './branches.js';
import type { MeshContext } from './context.js';
import { lastActivityOf } from './sessions.js';

/** An own agent's published record beside its last activity, which is known only here. */
interface ActivePresence {
  key: AgentKey;
  record: PresenceRecord;
  lastActivity: EpochMillis | null;
}

/** Renewals that are worth a commit of their own now. */
export async function dueRenewals(ctx: MeshContext, branch: Branch): Promise<ActivePresence[]> {
  const now = ctx.clock.now();
  return (await activePresence(ctx, branch)).filter(({ record, lastActivity }) =>
    renewalDue({ record, lastActivity, now }),
  );
}

/** Renewals that are due, or that a commit of `acting` may as well carry: no commit is made for these alone. */
export async function ridingRenewals(
  ctx: MeshContext,
  branch: Branch,
  acting: AgentKey | null,
): Promise<Map<string, Uint8Array>> {
  const now = ctx.clock.now();
  const riding = (await activePresence(ctx, branch)).filter(
    ({ key, record, lastActivity }) =>
      renewalDue({ record, lastActivity, now }) || (key === acting && rideAlong({ record, lastActivity, now })),
  );
  return renewalFiles(riding, now);
}

export function renewalFiles(renewals: readonly ActivePresence[], now: EpochMillis): Map<string, Uint8Array> {
  return new Map(
    renewals.map(({ key, record, lastActivity }) => [
      presencePath(key),
      encodePresence(renewedRecord(record, { lastActivity, now })),
    ]),
  );
}

async function activePresence(ctx: MeshContext, branch: Branch): Promise<ActivePresence[]> {
  const found: ActivePresence[] = [];
  for (const record of await ctx.branches.presence(branch)) {
    const key = agentKey(record.agent);
    found.push({ key, record, lastActivity: await lastActivityOf(ctx, key) });
  }
  return found;
}
