import { agentKey, isAgent } from '../domain/ids.js';
import type { Handle } from '../domain/ids.js';
import type { AckRecord, ReceiptRecord } from '../domain/records.js';
import { MeshError } from '../errors.js';
import type { JournalView } from '../store/ports.js';
import type { Store } from '../store/store.js';
import { isAncestor, seqOf } from './ancestry.js';

/**
 * What another machine states about our messages is believed only as far as it is that machine's to say: it may
 * acknowledge what was sent to it, and have received a commit that is ours.
 */

/** The acknowledgements of one file that their machine may give; none for a message that went to somebody else. */
export function believedAcks(
  view: JournalView,
  { own, machine, record }: { own: Handle; machine: Handle; record: AckRecord },
): AckRecord['acks'] {
  const message = view.byIdFrom(own, record.id);
  if (message === undefined || (message.to !== '*' && message.to !== machine)) return [];
  const only = message.to_agent === null ? null : agentKey(message.to_agent);
  return record.acks.filter(({ agent }) => only === null || isAgent(agent, only));
}

/**
 * True where the commit that a receipt names stands on the own branch with that `Mesh-Seq`. A store that was restored
 * from a backup counts anew from where it was: the number alone would prove the delivery of what never left.
 */
export async function receiptIsOurs(store: Store, { delivered_through: through }: ReceiptRecord): Promise<boolean> {
  const { objects, refs } = store;
  try {
    const tip = await refs.read(store.branch);
    if (tip === null || seqOf(await objects.commit(through.commit)) !== through.seq) return false;
    return await isAncestor(objects, through.commit, tip);
  } catch (error) {
    // A commit that is not here cannot be one of ours.
    if (error instanceof MeshError) return false;
    throw error;
  }
}
