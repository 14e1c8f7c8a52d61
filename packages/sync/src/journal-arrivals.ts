import { commitReceipts, journalOwnBranch, readableArrivals, stateMissingReceipts } from '@git-mesh/core';
import type { Branch, MeshContext } from '@git-mesh/core';

/**
 * Gives every arrival since each sender's cursor its number, and states the receipts where a message for this machine
 * was among them, or where a crash left them unstated. The cursor is the journal's own, so that a crash between a ref
 * and the journal loses nothing either.
 */
export async function journalArrivals(mesh: MeshContext): Promise<void> {
  if (await anythingNew(mesh)) await commitReceipts(mesh, await numberArrivals(mesh));
  await stateMissingReceipts(mesh);
}

/** The senders whose receipts are to be stated now. */
async function numberArrivals({ store, branches, clock }: MeshContext): Promise<Branch[]> {
  return store.withLock(async () => {
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
}

async function anythingNew({ branches, store }: MeshContext): Promise<boolean> {
  const view = await store.journal.view();
  return (await branches.all()).some((branch) => view.cursor(branch.handle)?.commit !== branch.tip);
}
