import { Branches, charterConflicts } from '@git-mesh/core';
import type { Store } from '@git-mesh/core';

/** A newcomer has nothing but the repository to go by: where its machines disagree on the charter, it hears so first. */
export async function charterWarning(store: Store, other?: string): Promise<string | undefined> {
  const problems = await charterConflicts(store, new Branches(store));
  const told = problems.map(({ message, fix }) => `Careful: ${message}. Before you trust it, ${fix ?? ''}.`);
  const all = [...told, ...(other === undefined ? [] : [other])];
  return all.length === 0 ? undefined : all.join(' ');
}
