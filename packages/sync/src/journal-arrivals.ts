import { commitReceipts, journalOwnBranch, readableArrivals } from '@git-mesh/core';
import type { Branch, MeshContext } from '@git-mesh/core';

/**
 * Gives every arrival since each sender's cursor its number, and states the receipts where a message for this machine
 * was among them. The cursor is the journal's own, so that a crash between a ref and the journal loses nothing.
 */
export async function journalArrivals(mesh: MeshContext): Promise<void> {
  const { store, branches, clock } = mesh;
  if (!(await anythingNew(mesh))) return;
  const read = await store.withLock(async () => {
    const own = await branches.ownBranch();
    await journalOwnBranch(store, own, clock.now());
    const changed: Branch[] = [];
    let arrived = false;
    for (const branch of await branches.all()) {
      if (branch.handle === branches.own) continue;
      const entries = await readableArrivals(store, branch, await store.journal.view(), clock.now());
      if (entries.length === 0) continue;
      await store.journal.append(entries, { durable: true });
      changed.push(branch);
      arrived ||= entries.some(({ kind }) => kind === 'message');
    }
    return arrived ? changed : [];
  });
  await commitReceipts(mesh, read);
}

async function anythingNew({ branches, store }: MeshContext): Promise<boolean> {
  const view = await store.journal.view();
  return (await branches.all()).some((branch) => view.cursor(branch.handle)?.commit !== branch.tip);
}
