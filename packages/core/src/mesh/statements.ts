import { parseCommitMessage } from '../domain/commit-message.js';
import { branchRef, messagePath } from '../domain/layout.js';
import type { Addressee, AgentId, Handle, Oid, Ulid } from '../domain/ids.js';
import { decodeMessage } from '../domain/message-record.js';
import type { AckRecord, ReceiptRecord } from '../domain/records.js';
import { lookupPath } from '../domain/tree-edit.js';
import { MeshError } from '../errors.js';
import type { JournalView } from '../store/ports.js';
import type { Store } from '../store/store.js';
import { maxRecordBytes } from './branches.js';

/**
 * What another machine states about our messages is believed only as far as it is that machine's to say: it may
 * acknowledge what was sent to it, and have received a commit that is ours.
 */

/** The acknowledgements of one file that their machine may give; none for a message that went to somebody else. */
export async function believedAcks(
  store: Store,
  view: JournalView,
  { machine, record }: { machine: Handle; record: AckRecord },
): Promise<AckRecord['acks']> {
  const message = await ownMessage(store, view, record.id, machine);
  if (message === null || (message.to !== '*' && message.to !== machine)) return [];
  const only = message.agent?.toLowerCase();
  return record.acks.filter(({ agent }) => only === undefined || agent.toLowerCase() === only);
}

async function ownMessage(
  store: Store,
  view: JournalView,
  id: Ulid,
  machine: Handle,
): Promise<{ to: Addressee; agent: AgentId | null } | null> {
  const entry = view.byIdFrom(store.config.handle, id);
  if (entry !== undefined) return { to: entry.to, agent: entry.to_agent };
  // A journal that is just being made up for does not have it yet; the own branch does.
  const tip = await ownTip(store);
  if (tip === null) return null;
  const root = (await store.objects.commit(tip)).tree;
  for (const to of [machine, '*'] as const) {
    const file = await lookupPath({ root, readTree: (oid) => store.objects.tree(oid), path: messagePath({ to, id }) });
    if (file === null) continue;
    const { agent } = decodeMessage(await store.objects.blob(file.oid, maxRecordBytes)).to;
    return { to, agent: agent ?? null };
  }
  return null;
}

/**
 * True where the commit that a receipt names stands on the own branch with that `Mesh-Seq`. A store that was restored
 * from a backup counts anew from where it was: the number alone would prove the delivery of what never left.
 */
export async function receiptIsOurs(store: Store, { delivered_through: through }: ReceiptRecord): Promise<boolean> {
  try {
    let at: Oid | undefined = (await ownTip(store)) ?? undefined;
    while (at !== undefined) {
      const commit: Awaited<ReturnType<Store['objects']['commit']>> = await store.objects.commit(at);
      const seq = parseCommitMessage(commit.message)?.seq ?? 0;
      if (seq <= through.seq) return seq === through.seq && at === through.commit;
      at = commit.parents[0];
    }
    return false;
  } catch (error) {
    if (error instanceof MeshError) return false;
    throw error;
  }
}

const ownTip = (store: Store): Promise<Oid | null> =>
  store.refs.read(branchRef(store.config.ref_prefix, store.config.handle));
