import type { Handle } from '../domain/ids.js';
import type { Branch } from './branches.js';
import { fingerprintOrNull } from './fingerprint-or-null.js';
import { keysOfBranch } from './standing.js';
import type { KeyConflict } from './standing.js';
import type { StatementFiles } from './statement-files.js';

/**
 * Machines whose key another machine's receipts name otherwise: one of the two saw somebody else under that name. `own`
 * machine's receipts say what is pinned here, and are left out.
 */
export async function keyConflicts(
  branches: readonly Branch[],
  { own, statements }: { own: Handle; statements: StatementFiles },
): Promise<ReadonlyMap<Handle, KeyConflict>> {
  const found = new Map<Handle, KeyConflict>();
  const fingerprints = new Map<Handle, string[]>();
  for (const branch of branches) {
    const known = keysOfBranch(branch).map((key) => fingerprintOrNull(key));
    fingerprints.set(
      branch.handle,
      known.filter((key) => key !== null),
    );
  }
  for (const witness of branches) {
    if (witness.handle === own) continue;
    for (const [handle, key] of await statements.pinned(witness)) {
      const known = fingerprints.get(handle);
      const current = known?.at(-1);
      if (known === undefined || current === undefined || known.includes(key)) continue;
      const conflict = found.get(handle) ?? { key: current, pinned: [] };
      conflict.pinned.push({ by: witness.handle, key });
      found.set(handle, conflict);
    }
  }
  return found;
}
