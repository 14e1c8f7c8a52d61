import type { Handle } from '../domain/ids.js';
import { rosterPath } from '../domain/layout.js';
import { decodeRoster } from '../domain/roster-record.js';
import type { RosterRecord } from '../domain/records.js';
import { MeshError } from '../errors.js';
import type { Branch } from './branches.js';
import { readFounder } from './charter.js';
import type { MeshContext } from './context.js';

/**
 * What speaks against admitting a machine without a person, in words for the log: the handle is another key's by the
 * charter, by what is accepted or pinned here, or by any machine's statement; or somebody revoked it. Null where nothing does.
 */
export async function contradiction(
  ctx: MeshContext,
  own: Branch,
  { handle, key }: { handle: Handle; key: string },
): Promise<string | null> {
  const { store, branches } = ctx;
  if (handle === branches.own) return 'the handle is this machine’s own';
  if ((await branches.file(own, rosterPath(handle))) !== null) return 'this machine has stated something of it before';
  const founder = await readFounder(store);
  if (founder?.handle === handle && founder.key !== key) return 'the handle is the founder’s';
  const pinned = (await store.local.pins()).get(handle);
  if (pinned !== undefined && pinned !== key) return 'another key is pinned for the handle';
  for (const branch of await branches.all()) {
    if (branch.handle === handle && branch.machine !== null && branch.machine.key !== key) {
      return 'the handle’s branch here has another key';
    }
    const stated = await statementOf(ctx, branch, handle);
    if (stated?.revoked_at !== undefined) return `${branch.handle} has revoked it`;
    if (stated !== null && stated.key !== key) return `${branch.handle} has admitted another key under the handle`;
  }
  return null;
}

/** Null where the branch says nothing of the machine, or nothing that can be read. */
async function statementOf({ branches }: MeshContext, branch: Branch, handle: Handle): Promise<RosterRecord | null> {
  try {
    const blob = await branches.file(branch, rosterPath(handle));
    const record = blob === null ? null : decodeRoster(await branches.read(blob));
    return record?.handle === handle ? record : null;
  } catch (error) {
    if (error instanceof MeshError) return null;
    throw error;
  }
}
