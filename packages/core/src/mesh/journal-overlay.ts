import type { Handle } from '../domain/ids.js';
import type { JournalEntry, JournaledTip, JournalView } from '../store/ports.js';

/** A view with entries on top that are not in the file, or not yet. */
export function withEntries(view: JournalView, entries: readonly JournalEntry[]): JournalView {
  const messages = entries.filter((entry) => entry.kind === 'message');
  const cursors = entries.filter((entry) => entry.kind === 'cursor');
  const moved = (sender: Handle): JournaledTip[] => cursors.filter((entry) => entry.sender === sender);
  const bySender = new Map(messages.map((entry) => [`${entry.sender} ${entry.id}`, entry]));
  return {
    highest: messages.reduce((highest, { n }) => Math.max(highest, n), view.highest),
    lines: view.lines + entries.length,
    total: view.total + messages.length,
    messages: [...view.messages, ...messages],
    pushed: view.pushed,
    receipts: view.receipts,
    acked: [...view.acked, ...entries.filter((entry) => entry.kind === 'acked')],
    byNumber: (n) => messages.find((entry) => entry.n === n) ?? view.byNumber(n),
    byId: (id) => view.byId(id) ?? messages.find((entry) => entry.id === id),
    byIdFrom: (sender, id) => bySender.get(`${sender} ${id}`) ?? view.byIdFrom(sender, id),
    cursor: (sender) => moved(sender).at(-1) ?? view.cursor(sender),
    mayLack: (reference, sender) => view.mayLack(reference, sender),
    lastLeftOut: (own, agent) => view.lastLeftOut(own, agent),
    tips: (sender) => [...view.tips(sender), ...moved(sender)],
  };
}
