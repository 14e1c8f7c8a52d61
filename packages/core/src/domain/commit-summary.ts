import { targetOf } from './commit-message.js';
import type { AgentId, Handle } from './ids.js';
import type { JsonObject, MessageType, PresenceRecord } from './records.js';
import { getKey } from './json.js';

/** What follows the event's name in a subject. All of it may hold untrusted text: the formatter cleans it. */

/** `builder (release) in shop: cutting 2.1` */
export function presenceSummary(record: Pick<PresenceRecord, 'agent' | 'role' | 'repo' | 'status'>): string {
  const role = record.role === null ? '' : ` (${record.role})`;
  const repo = record.repo === null ? '' : ` in ${record.repo}`;
  const status = record.status === null ? '' : `: ${record.status}`;
  return `${record.agent}${role}${repo}${status}`;
}

/** `freeze release -> laptop/qa: release 2.1`; the text is the payload's reason, message, title or repo. */
export function sendSummary(message: {
  type: MessageType;
  from: { agent: AgentId | null; machine: Handle };
  to: { machine: Handle | '*'; agent: AgentId | null };
  payload: JsonObject;
}): string {
  const { type, from, to, payload } = message;
  const text = ['reason', 'message', 'title', 'summary', 'repo']
    .map((key) => getKey(payload, key))
    .find((value): value is string => typeof value === 'string' && value !== '')
    // Lines of a text read on in the one that a subject has; what else is in it, the formatter makes visible.
    ?.replace(/\s*\n\s*/g, ' ');
  return `${type} ${from.agent ?? from.machine} -> ${targetOf(to.machine, to.agent)}${text === undefined ? '' : `: ${text}`}`;
}

/** `qa read freeze from studio/release`, or `qa read 3 messages from studio, desk`. */
export function ackSummary(ack: {
  agent: AgentId;
  messages: readonly { type: MessageType; sender: Handle; agent: AgentId | null }[];
}): string {
  const [first] = ack.messages;
  if (first !== undefined && ack.messages.length === 1) {
    return `${ack.agent} read ${first.type} from ${targetOf(first.sender, first.agent)}`;
  }
  const senders = [...new Set(ack.messages.map(({ sender }) => sender))];
  return `${ack.agent} read ${ack.messages.length} messages from ${senders.join(', ')}`;
}

/** `studio through 42, desk through 7` */
export function receiptSummary(receipts: readonly { sender: Handle; seq: number }[]): string {
  return receipts.map(({ sender, seq }) => `${sender} through ${seq}`).join(', ');
}

/** `admit laptop SHA256:…` */
export const admitSummary = (machine: Handle, key: string): string => `admit ${machine} ${key}`;

/** `revoke laptop through 41` */
export const revokeSummary = (machine: Handle, seq: number): string => `revoke ${machine} through ${seq}`;

/** `freeze release -> laptop/qa: never acked` */
export function expireSummary(message: {
  type: MessageType;
  agent: AgentId | null;
  sender: Handle;
  to: Handle | '*';
  to_agent: AgentId | null;
}): string {
  return `${message.type} ${message.agent ?? message.sender} -> ${targetOf(message.to, message.to_agent)}: never acked`;
}

/** `note builder -> laptop/qa` */
export function unsendSummary(message: Parameters<typeof expireSummary>[0]): string {
  return `${message.type} ${message.agent ?? message.sender} -> ${targetOf(message.to, message.to_agent)}`;
}

/** `3 messages, 1 presence record`; nothing is named that there is none of. */
export function pruneSummary(counts: { messages: number; presence: number; acks: number }): string {
  const parts = [
    counted(counts.messages, 'message'),
    counted(counts.presence, 'presence record'),
    counted(counts.acks, 'ack'),
  ];
  return parts.filter((part) => part !== '').join(', ');
}

function counted(count: number, what: string): string {
  return count === 0 ? '' : `${count} ${what}${count === 1 ? '' : 's'}`;
}
