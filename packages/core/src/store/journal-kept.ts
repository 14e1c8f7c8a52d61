import { agentKey, fromIso } from '../domain/ids.js';
import type { AgentKey, EpochMillis, Handle, Ulid } from '../domain/ids.js';
import type { LeftOut } from './journal-left-out.js';
import type { LiveJournalView, RestoredLine, TimedTip } from './journal-view.js';
import type { JournalEntry, MessageEntry, StillNeeded } from './ports.js';

/** The newest messages, standing or not, since people and agents go on naming them. */
const recentMessages = 200;
/** The newest own ones, as many as `sent` lists at most. */
const recentOwn = 100;
/** The newest of each agent here, as many as it lists unasked. */
const recentOfAgent = 20;
const dayMs = 86_400_000;
const recentOfAgentMs = 30 * dayMs;
/** A message lives for 30 days at most, from when it arrived at the latest; its freeze-clear as long after it. */
const freezeMs = 62 * dayMs;
/** The newest tips of each sender. */
const recentTips = 100;
/** Before those, for as long as a presence record may be alive, one of so many milliseconds. */
const olderTipsMs = 26 * 3_600_000;
const tipEveryMs = 600_000;

type Pushed = Extract<JournalEntry, { kind: 'pushed' }>;
type Receipt = Extract<JournalEntry, { kind: 'receipt' }>;

/** What stays of a view, in an order in which {@link LiveJournalView.restore} takes it, and what does not. */
export function keptOf(view: LiveJournalView, needed: StillNeeded): { lines: RestoredLine[]; leftOut: LeftOut } {
  const messages = keptMessages(view.messages, needed);
  const tips = keptTips(view, needed);
  const own = view.messages.filter((entry) => entry.sender === needed.own && messages.has(entry));
  const ids = new Set(own.map(({ id }) => id));
  const lines: RestoredLine[] = [
    ...view.timed.filter((timed) => (timed.kind === 'message' ? messages.has(timed) : tips.has(timed))),
    ...keptPushes(view.pushed, own),
    ...keptReceipts(view.receipts, own),
    ...view.acked.filter(({ id }) => ids.has(id)),
  ];
  return { lines, leftOut: withLeftOut(view, messages, needed.own) };
}

function keptMessages(all: readonly MessageEntry[], { own, now, message }: StillNeeded): ReadonlySet<MessageEntry> {
  const kept = new Set<MessageEntry>(all.slice(-recentMessages));
  const senders = new Set<Handle>();
  let sent = 0;
  const ofAgent = new Map<AgentKey | null, number>();
  for (let i = all.length - 1; i >= 0; i--) {
    const entry = all[i];
    if (entry === undefined) continue;
    const agent = entry.agent === null ? null : agentKey(entry.agent);
    const before = entry.sender === own ? (ofAgent.get(agent) ?? 0) : recentOfAgent;
    if (entry.sender === own) {
      ofAgent.set(agent, before + 1);
      sent += 1;
    }
    const age = now - fromIso(entry.at);
    const isRecent = (entry.sender === own && sent <= recentOwn) || (before < recentOfAgent && age < recentOfAgentMs);
    const isFreeze = (entry.type === 'freeze' || entry.type === 'freeze-clear') && age < freezeMs;
    // The last of each sender tells how far it had come, and the next own ULID goes on from the last one.
    if (isRecent || isFreeze || !senders.has(entry.sender) || message(entry)) kept.add(entry);
    senders.add(entry.sender);
  }
  return kept;
}

function keptTips(view: LiveJournalView, { own, now, commits }: StillNeeded): ReadonlySet<TimedTip> {
  const kept = new Set<TimedTip>();
  const seen = new Map<Handle, { count: number; at: EpochMillis }>();
  for (let i = view.timed.length - 1; i >= 0; i--) {
    const tip = view.timed[i];
    if (tip?.kind !== 'cursor') continue;
    const at = fromIso(tip.at);
    const { count, at: last } = seen.get(tip.sender) ?? { count: 0, at: Infinity };
    const isDue = last - at >= tipEveryMs && now - at < olderTipsMs;
    const isNamed = tip.sender === own && commits.has(tip.commit);
    if (count < recentTips || isDue || isNamed) kept.add(tip);
    seen.set(tip.sender, { count: count + 1, at: count < recentTips || isDue ? at : last });
  }
  return kept;
}

/** The last one of each remote, and the first that covers each message. */
function keptPushes(pushed: readonly Pushed[], own: readonly MessageEntry[]): Pushed[] {
  const kept = new Set<Pushed>(new Map(pushed.map((line) => [line.remote, line])).values());
  for (const line of firstCovering(pushed, own)) kept.add(line);
  return pushed.filter((line) => kept.has(line));
}

/** The last one of each machine, and its first that covers each message. */
function keptReceipts(receipts: readonly Receipt[], own: readonly MessageEntry[]): Receipt[] {
  const kept = new Set<Receipt>();
  const byMachine = new Map<Handle, Receipt[]>();
  for (const receipt of receipts) {
    const known = byMachine.get(receipt.machine);
    if (known === undefined) byMachine.set(receipt.machine, [receipt]);
    else known.push(receipt);
  }
  for (const ofMachine of byMachine.values()) {
    for (const receipt of [...firstCovering(ofMachine, own), ...ofMachine.slice(-1)]) kept.add(receipt);
  }
  return receipts.filter((receipt) => kept.has(receipt));
}

/** For each message the first line whose number reaches it. */
function firstCovering<T extends { seq: number }>(lines: readonly T[], own: readonly MessageEntry[]): T[] {
  const seqs = [...new Set(own.map(({ seq }) => seq))].sort((a, b) => a - b);
  const found: T[] = [];
  let next = 0;
  for (const line of lines) {
    const first = next;
    for (let seq = seqs[next]; seq !== undefined && seq <= line.seq; seq = seqs[next]) next += 1;
    if (next > first) found.push(line);
  }
  return found;
}

function withLeftOut({ leftOut, messages }: LiveJournalView, kept: ReadonlySet<MessageEntry>, own: Handle): LeftOut {
  let { highest } = leftOut;
  const ids = new Map<Handle, Ulid>(leftOut.ids);
  const agents = new Map<AgentKey, Ulid>(leftOut.agents);
  for (const entry of messages) {
    if (kept.has(entry)) continue;
    highest = Math.max(highest, entry.n);
    if (entry.id > (ids.get(entry.sender) ?? '')) ids.set(entry.sender, entry.id);
    if (entry.sender !== own || entry.agent === null) continue;
    const key = agentKey(entry.agent);
    if (entry.id > (agents.get(key) ?? '')) agents.set(key, entry.id);
  }
  return { highest, ids, agents };
}
