import { setTimeout as sleep } from 'node:timers/promises';
import { byCommand, byServer } from './access.js';
import type { Access } from './access.js';
import { type Answer, now } from './answer.js';
import type { Ledger, Message } from './ledger.js';
import type { SoakMachine } from './machine.js';
import type { SoakRemote } from './remote.js';
import { type Call, type CallStep, type Lane, reader } from './schedule.js';

/** How long a call waits for its server to be there again. */
const restartLimitMs = 30_000;
const mostRetries = 4;
const visitorTtl = 3_600;

export interface LaneOptions {
  ledger: Ledger;
  machine: SoakMachine;
  lane: Lane;
  remote: SoakRemote;
  /** The moment that the schedule counts from, and the end of it, on the harness's clock. */
  startedAt: number;
  until: number;
}

/** Carries out the calls of one lane, one after another, each no sooner than the schedule says. */
export async function runLane(options: LaneOptions, steps: readonly { step: CallStep; nr: number }[]): Promise<void> {
  const { startedAt, until } = options;
  for (const { step, nr } of steps) {
    const wait = startedAt + step.at - now();
    if (wait > 0) await sleep(wait);
    if (now() >= until) return;
    await carryOut(options, step, nr);
  }
}

async function carryOut(options: LaneOptions, step: CallStep, nr: number): Promise<void> {
  const { machine, ledger } = options;
  const { call } = step;
  const access = await accessOf(options, step);
  if (access === null) return;
  switch (call.do) {
    case 'send':
      return send(options, access, messageOf(machine.handle, call, { nr, speaker: access.speaker() }));
    case 'ack':
      return acknowledge(options, access, call.part);
    case 'read':
      await read(ledger, machine.handle, access, call.agent);
      return;
    case 'sent':
      return claims(options, access);
    case 'checkin':
      await access.checkin(call.agent, { status: call.status, ttl: visitorTtl });
      return;
    case 'checkout':
      await access.checkout(call.agent);
      return;
    case 'agents':
      await access.agents();
      return;
    case 'sync':
      await machine.commands.run(['sync'], step.mischief);
  }
}

async function accessOf({ machine, lane }: LaneOptions, step: CallStep | null): Promise<Access | null> {
  if (lane === 'command') return byCommand(machine.commands, step?.mischief ?? null);
  const server = machine.servers[lane === 'server-0' ? 0 : 1];
  if (server === undefined || !(await server.running(restartLimitMs))) return null;
  return byServer(server);
}

function messageOf(
  machine: string,
  call: Call & { do: 'send' },
  { nr, speaker }: { nr: number; speaker: string | null },
): Message {
  const { to, toAgent, type, key, words } = call;
  const text = Array.from({ length: words }, (_, index) => `word-${index}`).join(' ');
  // What a careless encoding would change on its way.
  const payload = { soak: nr, text, odd: { 'a: b': [' - x', 'no', null, 1e-7, 'ñ\u2028\n'] } };
  const from = { from: call.from ?? speaker, isNamed: call.from !== null };
  return { nr, machine, ...from, to, toAgent, type, key: key ? `key-${nr}` : null, payload };
}

/** With a key a send whose end is not known is sent again, as an agent would; and now and then one that was accepted. */
async function send(options: LaneOptions, first: Access, message: Message): Promise<void> {
  options.ledger.messages.set(message.nr, message);
  let access: Access | null = first;
  for (let tries = 1; access !== null; tries++) {
    const outcome = await sendOnce(options.ledger, access, message);
    const again = outcome !== 'accepted' ? tries < mostRetries : tries === 1 && message.nr % 3 === 0;
    if (message.key === null || !again) return;
    access = await accessOf(options, null);
  }
}

async function sendOnce(ledger: Ledger, access: Access, message: Message): Promise<string> {
  const startedAt = now();
  const attempt = {
    nr: message.nr,
    startedAt,
    endedAt: Infinity,
    outcome: 'unknown' as Answer<unknown>['outcome'],
    id: null as string | null,
    messageId: null as number | null,
    error: null as string | null,
  };
  // Written down before it is made: the run may end in the middle of it.
  ledger.sends.push(attempt);
  const answer = await access.send(message);
  attempt.endedAt = answer.endedAt;
  attempt.outcome = answer.outcome;
  if (answer.outcome === 'accepted') {
    attempt.id = answer.value.id;
    attempt.messageId = answer.value.message_id;
  } else {
    attempt.error = answer.error;
  }
  return answer.outcome;
}

/** Reads an agent's whole inbox as pages; null where a page could not be had. */
async function read(
  ledger: Ledger,
  machine: string,
  access: Access,
  agent: string,
): Promise<{ id: string; number: number }[] | null> {
  const found: { id: string; number: number }[] = [];
  let after: number | null = null;
  for (;;) {
    const answer = await access.inbox(agent, after);
    if (answer.outcome !== 'accepted') return null;
    for (const { id, message_id: messageId, from, msg_type: type, payload } of answer.value.messages) {
      found.push({ id, number: messageId });
      ledger.sightings.push({
        machine,
        id,
        messageId,
        from: { machine: from.machine, agent: from.agent },
        type,
        payload,
        inbox: agent,
      });
    }
    if (answer.value.remaining === 0) return found;
    after = answer.value.messages.at(-1)?.message_id ?? null;
    if (after === null) return found;
  }
}

async function acknowledge({ ledger, machine }: LaneOptions, access: Access, part: number): Promise<void> {
  const { handle } = machine;
  const found = await read(ledger, handle, access, reader);
  if (found === null || found.length === 0) return;
  const chosen = found.slice(0, Math.max(1, Math.floor(found.length * part)));
  const attempt = {
    machine: handle,
    agent: reader,
    ids: chosen.map(({ id }) => id),
    outcome: 'unknown' as Answer<unknown>['outcome'],
    error: null as string | null,
  };
  ledger.acks.push(attempt);
  const answer = await access.ack(
    reader,
    chosen.map(({ number }) => number),
  );
  attempt.outcome = answer.outcome;
  if (answer.outcome !== 'accepted') {
    attempt.error = answer.error;
    return;
  }
  if (answer.value.unknown.length > 0 || answer.value.preview) {
    const text = `${handle} does not know ${JSON.stringify(answer.value)}, of which its inbox told`;
    ledger.faults.push({ kind: 'lost ack', text });
  }
}

/** What a machine says was pushed is on the remote. */
async function claims({ ledger, machine, remote }: LaneOptions, access: Access): Promise<void> {
  const answer = await access.sent();
  if (answer.outcome !== 'accepted') return;
  for (const { id, message_id: messageId, msg_type: type, payload } of answer.value.messages) {
    ledger.sightings.push({ machine: machine.handle, id, messageId, from: null, type, payload, inbox: null });
  }
  const pushed = answer.value.messages.filter(({ pushed_at: at }) => at !== null);
  if (pushed.length === 0) return;
  const there = await remote.messagesOf(machine.handle);
  for (const { id, state } of pushed) {
    if (there.has(id)) continue;
    ledger.faults.push({
      kind: 'false state',
      text: `${machine.handle} says that ${id} is ${state}, and the remote lacks it`,
    });
  }
}
