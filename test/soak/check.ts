import { isDeepStrictEqual } from 'node:util';
import { checkAcks } from './check-acks.js';
import { checkNumbers } from './check-numbers.js';
import type { FaultFound, Ledger, Message, SendAttempt } from './ledger.js';
import type { Observed, ObservedInbox, ObservedMachine, ObservedMessage } from './observed.js';

export interface Finding {
  kind: FaultFound;
  text: string;
}

export interface Checked {
  findings: Finding[];
  /** Messages whose send was accepted. */
  accepted: number;
  /** Pairs of an accepted message and an agent whose inbox must have it, and had. */
  delivered: number;
}

/** What a soak asks of the mesh: every set that was accepted against every set that is there. No I/O. */
export function check(ledger: Ledger, observed: Observed): Checked {
  const known = new Known(ledger);
  const findings: Finding[] = [...ledger.faults];
  let delivered = 0;
  for (const machine of observed.machines) {
    for (const inbox of machine.inboxes) {
      const result = checkInbox(known, machine, inbox);
      findings.push(...result.findings);
      delivered += result.delivered;
    }
    findings.push(...checkBranch(known, machine), ...checkStates(known, machine, observed));
  }
  findings.push(...checkIds(known), ...checkSightings(known));
  findings.push(...checkNumbers(ledger, observed), ...checkAcks(ledger, observed));
  return { findings, accepted: known.accepted.size, delivered };
}

/** The ledger by message. */
class Known {
  readonly ledger: Ledger;
  readonly attempts = new Map<number, SendAttempt[]>();
  /** By number: the id that its sender was told. */
  readonly accepted = new Map<number, string>();
  /** By id: the number, as told or as seen in a payload. */
  readonly numberOf = new Map<string, number>();
  /** By number: every id under which it was told or seen anywhere. */
  readonly ids = new Map<number, Set<string>>();

  constructor(ledger: Ledger) {
    this.ledger = ledger;
    for (const attempt of ledger.sends) {
      const { nr, id } = attempt;
      this.attempts.set(nr, [...(this.attempts.get(nr) ?? []), attempt]);
      if (attempt.outcome !== 'accepted' || id === null) continue;
      if (!this.accepted.has(nr)) this.accepted.set(nr, id);
      this.note(nr, id);
    }
    for (const { id, payload } of ledger.sightings) {
      const nr = payload?.['soak'];
      if (typeof nr === 'number') this.note(nr, id);
    }
  }

  note(nr: number, id: string): void {
    this.numberOf.set(id, nr);
    const ids = this.ids.get(nr) ?? new Set();
    this.ids.set(nr, ids.add(id));
  }

  /** True where an agent's inbox is to have it. */
  static isFor(message: Message, machine: string, agent: string): boolean {
    return (message.to === '*' || message.to === machine) && (message.toAgent === null || message.toAgent === agent);
  }

  /** Between which times a message came to be. */
  time(nr: number): { from: number; until: number } {
    const attempts = this.attempts.get(nr) ?? [];
    const done = attempts.filter(({ outcome }) => outcome === 'accepted').map(({ endedAt }) => endedAt);
    return {
      from: Math.min(...attempts.map(({ startedAt }) => startedAt)),
      until: Math.min(...done, Math.max(...attempts.map(({ endedAt }) => endedAt))),
    };
  }
}

const named = (message: Message, id: string | null): string =>
  `message ${message.nr} (${id ?? 'no id'}) of ${message.machine} to ${message.to}${message.toAgent === null ? '' : `/${message.toAgent}`}`;

function checkInbox(
  known: Known,
  { handle }: ObservedMachine,
  { agent, messages }: ObservedInbox,
): { findings: Finding[]; delivered: number } {
  const findings: Finding[] = [];
  const where = `in the inbox of ${handle}/${agent}`;
  const { accepted: acked, tried } = acksOf(known.ledger, handle, agent);
  const count = new Map<number, number>();
  for (const item of messages) {
    const nr = item.payload['soak'];
    const message = typeof nr === 'number' ? known.ledger.messages.get(nr) : undefined;
    if (message === undefined) {
      findings.push({ kind: 'phantom', text: `${item.id} ${where} was sent by nobody: ${JSON.stringify(item)}` });
      continue;
    }
    const wrong = differences(message, item, { handle, agent });
    if (wrong !== null) findings.push({ kind: 'phantom', text: `${named(message, item.id)} ${where}: ${wrong}` });
    count.set(message.nr, (count.get(message.nr) ?? 0) + 1);
    if (acked.has(item.id)) {
      findings.push({ kind: 'wrong ack', text: `${named(message, item.id)} ${where} although it acknowledged it` });
    }
  }
  let delivered = 0;
  for (const [nr, id] of known.accepted) {
    const message = known.ledger.messages.get(nr);
    if (message === undefined || !Known.isFor(message, handle, agent)) continue;
    if (count.has(nr) || tried.has(id)) delivered += 1;
    else findings.push({ kind: 'lost', text: `${named(message, id)} was accepted and is not ${where}` });
  }
  for (const [nr, times] of count) {
    const message = known.ledger.messages.get(nr);
    if (times > 1 && message !== undefined) {
      findings.push({ kind: 'duplicated', text: `${named(message, null)} is ${times} times ${where}` });
    }
  }
  findings.push(...misordered(known, messages, where));
  return { findings, delivered };
}

function acksOf(ledger: Ledger, machine: string, agent: string): { accepted: Set<string>; tried: Set<string> } {
  const own = ledger.acks.filter((ack) => ack.machine === machine && ack.agent === agent);
  const accepted = own.filter(({ outcome }) => outcome === 'accepted').flatMap(({ ids }) => ids);
  return { accepted: new Set(accepted), tried: new Set(own.flatMap(({ ids }) => ids)) };
}

/** What an item has otherwise than it was sent; null where nothing. */
function differences(
  message: Message,
  item: ObservedMessage,
  { handle, agent }: { handle: string; agent: string },
): string | null {
  if (!Known.isFor(message, handle, agent)) return 'it was sent to somebody else';
  if (item.from.machine !== message.machine) return `it seems to come from ${item.from.machine}`;
  if (item.from.agent !== message.from) return `it seems to come from ${item.from.agent ?? 'nobody'}`;
  if (item.type !== message.type) return `it has the type ${item.type} instead of ${message.type}`;
  if (item.directed !== (message.toAgent !== null)) return `directed is ${item.directed ? 'true' : 'false'}`;
  if (!isDeepStrictEqual(item.payload, message.payload)) return `its payload is ${JSON.stringify(item.payload)}`;
  return null;
}

/** Of two messages of one sender, the second sent after the first was accepted, the second does not come first. */
function misordered(known: Known, messages: readonly ObservedMessage[], where: string): Finding[] {
  const findings: Finding[] = [];
  const latest = new Map<string, { from: number; nr: number }>();
  for (const item of messages) {
    const nr = known.numberOf.get(item.id);
    const message = nr === undefined ? undefined : known.ledger.messages.get(nr);
    if (message === undefined) continue;
    const { from, until } = known.time(message.nr);
    const before = latest.get(message.machine);
    if (before !== undefined && until < before.from) {
      findings.push({
        kind: 'misordered',
        text: `${named(message, item.id)} stands behind message ${before.nr}, which was sent after it, ${where}`,
      });
    }
    if (before === undefined || from > before.from) latest.set(message.machine, { from, nr: message.nr });
  }
  return findings;
}

/** The sender's own branch: each accepted message in exactly one commit, and still in the tip. */
function checkBranch(known: Known, { handle, sentInHistory, sentInTip }: ObservedMachine): Finding[] {
  const findings: Finding[] = [];
  const seen = new Set<string>();
  for (const id of sentInHistory) {
    if (seen.has(id))
      findings.push({ kind: 'duplicated', text: `the branch of ${handle} has two commits that send ${id}` });
    seen.add(id);
  }
  const tip = new Set(sentInTip);
  for (const [nr, id] of known.accepted) {
    const message = known.ledger.messages.get(nr);
    if (message?.machine !== handle) continue;
    if (!seen.has(id)) findings.push({ kind: 'lost', text: `${named(message, id)} is in no commit of its branch` });
    else if (!tip.has(id))
      findings.push({ kind: 'lost', text: `${named(message, id)} is gone from the tip of its branch` });
  }
  const acked = new Set(known.ledger.acks.flatMap(({ ids }) => ids));
  for (const id of seen) {
    if (known.numberOf.has(id) || acked.has(id)) continue;
    findings.push({ kind: 'phantom', text: `the branch of ${handle} sends ${id}, which nobody sent or was given` });
  }
  return findings;
}

/** One message, one id; and none where the sender was told that nothing was stored. */
function checkIds(known: Known): Finding[] {
  const findings: Finding[] = [];
  for (const [nr, ids] of known.ids) {
    const message = known.ledger.messages.get(nr);
    if (message === undefined) continue;
    if (ids.size > 1) {
      findings.push({ kind: 'duplicated', text: `${named(message, null)} is there as ${[...ids].join(', ')}` });
    }
    const attempts = known.attempts.get(nr) ?? [];
    if (attempts.length > 0 && attempts.every(({ outcome }) => outcome === 'denied')) {
      const words = attempts.map(({ error }) => error ?? '').join('; ');
      findings.push({
        kind: 'denied but stored',
        text: `${named(message, [...ids].join())} was answered with: ${words}`,
      });
    }
  }
  return findings;
}

/** What was read while it ran: nothing that nobody sent, and nothing that was changed on its way. */
function checkSightings(known: Known): Finding[] {
  const findings: Finding[] = [];
  for (const { machine, id, inbox, from, type, payload } of known.ledger.sightings) {
    if (inbox === null || payload === null || from === null || type === null) continue;
    const nr = payload['soak'];
    const message = typeof nr === 'number' ? known.ledger.messages.get(nr) : undefined;
    const where = `was read in the inbox of ${machine}/${inbox}`;
    if (message === undefined) {
      findings.push({ kind: 'phantom', text: `${id} ${where} and was sent by nobody: ${JSON.stringify(payload)}` });
    } else if (!isDeepStrictEqual(payload, message.payload) || from.machine !== message.machine) {
      findings.push({ kind: 'phantom', text: `${named(message, id)} ${where} with ${JSON.stringify(payload)}` });
    }
  }
  return findings;
}

/** With everything synchronised, the sender knows that each message has come to every machine that it was for. */
function checkStates(known: Known, { handle, sent }: ObservedMachine, observed: Observed): Finding[] {
  const findings: Finding[] = [];
  for (const { id, to, state, deliveredTo } of sent) {
    if (!known.numberOf.has(id)) continue;
    const addressed = to === '*' ? observed.machines.map((machine) => machine.handle) : [to];
    const missing = addressed.filter((machine) => machine !== handle && !deliveredTo.includes(machine));
    if ((state === 'delivered' || state === 'acked') && missing.length === 0) continue;
    findings.push({
      kind: 'false state',
      text: `${handle} says that ${id} to ${to} is ${state}, delivered to ${deliveredTo.join(', ')}`,
    });
  }
  return findings;
}
