import { toIso } from '../domain/ids.js';
import type { Handle } from '../domain/ids.js';
import { rosterPath } from '../domain/layout.js';
import { encodeRoster } from '../domain/roster-record.js';
import { keyFingerprint } from '../store/public-key.js';
import type { MeshContext } from './context.js';
import { commitChange, eventOf } from './write.js';
import type { Locked } from './write.js';

/** States that a machine with this key belongs to the mesh. Caller holds the lock (see `locked`). */
export async function commitAdmission(
  ctx: MeshContext,
  state: Locked,
  { handle, key }: { handle: Handle; key: string },
): Promise<Locked> {
  const admitted = encodeRoster({ handle, key, admitted_at: toIso(ctx.clock.now()) });
  return commitChange(ctx, state, {
    edits: new Map([[rosterPath(handle), admitted]]),
    event: eventOf('roster', null, { summary: `admit ${handle} ${keyFingerprint(key)}` }),
  });
}
