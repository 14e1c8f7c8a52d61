import type { AgentId, EpochMillis, Handle, IsoTime } from './ids.js';
import type { DeliveryFacts, MessageFacts } from './journal-facts.js';
import { believedExpiry } from './message-life.js';
import type { MessageState } from './results.js';

export interface MessageProgress {
  state: MessageState;
  pushed_at: IsoTime | null;
  delivered_at: IsoTime | null;
  /** One for each machine that has it, the earliest first (by their clocks). */
  delivered_to: { machine: Handle; at: IsoTime }[];
  acks: { machine: Handle; agent: AgentId; at: IsoTime }[];
}

/**
 * How far an own message has come. Delivered is what a receipt covers, or an acknowledgement proves; a message to the
 * own machine is delivered at once. For `*` the state is the furthest that any other machine, or an agent here by its
 * acknowledgement, has come. Expired is what was not acknowledged in its life.
 */
export function messageState(options: {
  entry: MessageFacts;
  journal: DeliveryFacts;
  machine: Handle;
  now: EpochMillis;
}): MessageProgress {
  const { entry, journal, machine, now } = options;
  const acks = journal.acked
    .filter((ack) => ack.id === entry.id)
    .map((ack) => ({ machine: ack.machine, agent: ack.agent, at: ack.at }));
  const delivered = deliveries(entry, journal, machine, acks);
  const pushedAt = journal.pushed.find((pushed) => pushed.seq >= entry.seq)?.at ?? null;
  return {
    state: stateOf(),
    pushed_at: pushedAt,
    delivered_at: delivered[0]?.at ?? null,
    delivered_to: delivered,
    acks,
  };

  function stateOf(): MessageState {
    if (acks.length > 0) return 'acked';
    if (now >= believedExpiry(entry, now)) return 'expired';
    if (delivered.length > 0) return 'delivered';
    return pushedAt === null ? 'queued' : 'pushed';
  }
}

function deliveries(
  entry: MessageFacts,
  journal: Pick<DeliveryFacts, 'receipts'>,
  machine: Handle,
  acks: MessageProgress['acks'],
): MessageProgress['delivered_to'] {
  const at = new Map<Handle, IsoTime>();
  if (entry.to === machine) at.set(machine, entry.at);
  for (const receipt of journal.receipts) {
    const addressed = entry.to === '*' ? receipt.machine !== machine : receipt.machine === entry.to;
    if (addressed && receipt.seq >= entry.seq && !at.has(receipt.machine)) at.set(receipt.machine, receipt.at);
  }
  for (const ack of acks) if (!at.has(ack.machine)) at.set(ack.machine, ack.at);
  return [...at]
    .map(([handle, time]) => ({ machine: handle, at: time }))
    .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}
