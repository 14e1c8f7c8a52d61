import type { Handle, Oid } from '../domain/ids.js';
import { charterRef } from '../domain/layout.js';
import type { Problem } from '../domain/results.js';
import type { Store } from '../store/store.js';
import type { Branches } from './branches.js';

/** Of machines that are named. */
const maxNamed = 5;
/** Anyone can state one of its own: past this they say no more. */
const maxCharters = 5;

/**
 * Machines that joined by another charter than this one: one of the two was put in the other's place. Each machine states
 * its own, so that one which joined under a forged one is told by the others.
 */
export async function charterConflicts(store: Store, branches: Branches): Promise<Problem[]> {
  const ours = await store.refs.read(charterRef(store.config.ref_prefix));
  if (ours === null) return [];
  const others = new Map<Oid, Handle[]>();
  for (const { handle, machine } of await branches.allAccepted()) {
    const stated = machine?.charter;
    if (stated !== undefined && stated !== ours) others.set(stated, [...(others.get(stated) ?? []), handle]);
  }
  return [...others].slice(0, maxCharters).map(([charter, handles]) => ({
    kind: 'charter_conflict',
    message:
      `${listed(handles)} joined by another charter (${charter.slice(0, 10)}) than the one here (${ours.slice(0, 10)}, ` +
      `policy ${store.config.policy}): somebody put one of the two in the other's place`,
    fix: 'find out with the people who run these machines which one the founder made: whoever joined by the other one makes a new store and joins anew',
  }));
}

function listed(handles: readonly Handle[]): string {
  const more = handles.length - maxNamed;
  return handles.slice(0, maxNamed).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
