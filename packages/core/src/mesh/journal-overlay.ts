import type { JournalEntry, JournalView } from '../store/ports.js';

/** A view with entries on top that are not in the file: what the next holder of the lock will find and append itself. */
export function withEntries(view: JournalView, entries: readonly JournalEntry[]): JournalView {
  const messages = entries.filter((entry) => entry.kind === 'message');
  return {
    highest: Math.max(view.highest, ...messages.map(({ n }) => n)),
    messages: [...view.messages, ...messages],
    pushed: view.pushed,
    receipts: view.receipts,
    acked: [...view.acked, ...entries.filter((entry) => entry.kind === 'acked')],
    byNumber: (n) => messages.find((entry) => entry.n === n) ?? view.byNumber(n),
    byId: (id) => view.byId(id) ?? messages.find((entry) => entry.id === id),
    byIdFrom: (sender, id) =>
      messages.find((entry) => entry.sender === sender && entry.id === id) ?? view.byIdFrom(sender, id),
    cursor: (sender) => {
      const moved = entries.findLast((entry) => entry.kind === 'cursor' && entry.sender === sender);
      return moved?.kind === 'cursor' ? { commit: moved.commit, seq: moved.seq } : view.cursor(sender);
    },
  };
}
