import type { Finding } from './check.js';
import type { Ledger } from './ledger.js';
import type { Observed } from './observed.js';

/** On each machine a number names one message for good, and numbers rise in the order in which they were given. */
export function checkNumbers(ledger: Ledger, observed: Observed): Finding[] {
  const findings: Finding[] = [];
  for (const { handle, inboxes } of observed.machines) {
    const told = toldNumbers(ledger, handle);
    for (const { id, messageId } of told) {
      const otherId = told.find((one) => one.messageId === messageId && one.id !== id)?.id;
      // Said once for each number.
      if (otherId !== undefined && id < otherId) {
        findings.push({ kind: 'number', text: `number ${messageId} of ${handle} is ${id} and ${otherId}` });
      }
      const otherNumber = told.find((one) => one.id === id && one.messageId !== messageId)?.messageId;
      if (otherNumber !== undefined && messageId < otherNumber) {
        findings.push({
          kind: 'number',
          text: `message ${id} has the numbers ${messageId} and ${otherNumber} on ${handle}`,
        });
      }
    }
    for (const { agent, messages } of inboxes) {
      for (const [at, { messageId }] of messages.entries()) {
        const before = messages[at - 1]?.messageId ?? 0;
        if (messageId > before) continue;
        const text = `the inbox of ${handle}/${agent} goes from number ${before} to ${messageId}`;
        findings.push({ kind: 'number', text });
      }
    }
    findings.push(...falling(ledger, handle));
  }
  return findings;
}

interface Told {
  id: string;
  messageId: number;
}

function toldNumbers(ledger: Ledger, handle: string): Told[] {
  const told = new Map<string, Told>();
  const note = (id: string, messageId: number): void => void told.set(`${messageId} ${id}`, { id, messageId });
  for (const { machine, id, messageId } of ledger.sightings) if (machine === handle) note(id, messageId);
  for (const { nr, id, messageId } of ledger.sends) {
    if (id === null || messageId === null || ledger.messages.get(nr)?.machine !== handle) continue;
    note(id, messageId);
  }
  return [...told.values()];
}

/** A send that began after another one was answered has the higher number. */
function falling(ledger: Ledger, handle: string): Finding[] {
  const findings: Finding[] = [];
  const firsts = new Map<string, { startedAt: number; endedAt: number; messageId: number }>();
  for (const attempt of ledger.sends) {
    const { nr, id, messageId, startedAt, endedAt } = attempt;
    if (id === null || messageId === null || ledger.messages.get(nr)?.machine !== handle) continue;
    // One of several with a key may have been stored by an earlier attempt, whose time is not known.
    if (ledger.sends.some((other) => other.nr === nr && other !== attempt)) continue;
    firsts.set(id, { startedAt, endedAt, messageId });
  }
  const inOrder = [...firsts].sort(([, one], [, other]) => one.messageId - other.messageId);
  let latest = 0;
  for (const [id, { startedAt, endedAt, messageId }] of inOrder) {
    if (endedAt < latest) {
      findings.push({
        kind: 'number',
        text: `${id} has number ${messageId} on ${handle}, above one that was sent later`,
      });
    }
    latest = Math.max(latest, startedAt);
  }
  return findings;
}
