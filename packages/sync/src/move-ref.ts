import { MeshError } from '@git-mesh/core';
import type { Oid, RefName, Store } from '@git-mesh/core';

/** Notes what was seen. Several processes may: any one's view is as good, and the next round looks again. */
export async function moveRef(store: Pick<Store, 'refs'>, ref: RefName, next: Oid | null): Promise<void> {
  const { refs } = store;
  try {
    const expected = await refs.read(ref);
    if (expected !== next) await refs.update(ref, { expected, next });
  } catch (error) {
    if (!(error instanceof MeshError) || (error.errorName !== 'conflict' && error.errorName !== 'locked')) throw error;
  }
}
