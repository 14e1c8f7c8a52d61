import type { AgentId, Handle, Oid } from './ids.js';
import { isAgentId, isHandle, isOid, isUlid } from './ids.js';
import { isMessageType } from './message-type.js';
import type { CommitEvent, EventName } from './records.js';
import { visibleText } from './visible-text.js';

const subjectLength = 120;
/** A longer message is no mesh commit's: an acknowledgement of a thousand messages has 50,000 characters. */
const maxLength = 262_144;

const known: Record<EventName, true> = {
  init: true,
  join: true,
  checkin: true,
  status: true,
  renew: true,
  checkout: true,
  send: true,
  ack: true,
  receipt: true,
  expire: true,
  prune: true,
  roster: true,
  unsend: true,
  leave: true,
  'rotate-key': true,
};

export const eventNames: readonly EventName[] = Object.keys(known).filter(isEventName);

/**
 * The commit's message: a subject of one line (`send freeze release -> laptop/qa: release 2.1`), an empty line, and
 * the trailers. Whatever the summary holds, it stays on the first line, so it can forge no trailer.
 */
export function formatCommitMessage(event: CommitEvent): string {
  const subject = visibleText(`${event.event} ${event.summary}`.trim(), { maxLength: subjectLength });
  const trailers = [`Mesh-Event: ${event.event}`];
  if (event.agent !== null) trailers.push(`Mesh-Agent: ${event.agent}`);
  for (const id of event.messages) trailers.push(`Mesh-Message: ${id}`);
  if (event.to !== undefined) trailers.push(`Mesh-To: ${event.to}`);
  if (event.type !== undefined) trailers.push(`Mesh-Type: ${event.type}`);
  trailers.push(`Mesh-Seq: ${event.seq}`, `Mesh-Journal: ${event.journal}`);
  for (const { sender, commit } of event.read) trailers.push(`Mesh-Read: ${sender}@${commit}`);
  return `${subject}\n\n${trailers.join('\n')}\n`;
}

/** A {@link CommitEvent} as read back; `subject` is the whole first line, as it stands there. */
export interface ParsedCommitMessage extends Omit<CommitEvent, 'summary'> {
  subject: string;
}

/**
 * What a commit says of itself; null where it is no mesh commit (no `Mesh-Event` that we know, no valid `Mesh-Seq`).
 * Other trailers that are missing or malformed are left out: `journal` is 0 then.
 */
export function parseCommitMessage(text: string): ParsedCommitMessage | null {
  if (text.length > maxLength) return null;
  const lines = text.trimEnd().split('\n');
  const trailers = lines.slice(lines.lastIndexOf('') + 1);
  if (trailers.length === lines.length) return null;
  const values = (key: string): string[] =>
    trailers.filter((line) => line.startsWith(`${key}: `)).map((line) => line.slice(key.length + 2).trim());
  const event = values('Mesh-Event')[0] ?? '';
  const seq = counter(values('Mesh-Seq')[0]);
  if (!isEventName(event) || seq === null || seq < 1) return null;
  const to = values('Mesh-To').find(isTarget);
  const type = values('Mesh-Type').find(isMessageType);
  return {
    event,
    subject: lines[0] ?? '',
    agent: values('Mesh-Agent').find(isAgentId) ?? null,
    seq,
    journal: counter(values('Mesh-Journal')[0]) ?? 0,
    messages: values('Mesh-Message').filter(isUlid),
    ...(to === undefined ? {} : { to }),
    ...(type === undefined ? {} : { type }),
    read: values('Mesh-Read').flatMap(parseRead),
  };
}

export function isEventName(text: string): text is EventName {
  return Object.hasOwn(known, text);
}

function counter(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

function isTarget(text: string): boolean {
  if (text === '*') return true;
  const [handle = '', agent, ...rest] = text.split('/');
  return isHandle(handle) && rest.length === 0 && (agent === undefined || isAgentId(agent));
}

function parseRead(text: string): { sender: Handle; commit: Oid }[] {
  const [sender = '', commit = '', ...rest] = text.split('@');
  return rest.length === 0 && isHandle(sender) && isOid(commit) ? [{ sender, commit }] : [];
}

/** `laptop`, `laptop/qa` or `*`: for `Mesh-To` and for subjects. */
export function targetOf(to: Handle | '*', agent: AgentId | null): string {
  return agent === null ? to : `${to}/${agent}`;
}
