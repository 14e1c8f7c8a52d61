import { describe, expect, test } from 'vitest';
import { check } from './check.js';
import { type Ledger, type Message, newLedger, type SendAttempt } from './ledger.js';
import type { Observed, ObservedInbox, ObservedMachine, ObservedMessage } from './observed.js';

interface Run {
  ledger: Ledger;
  observed: Observed;
  machine(handle: string): ObservedMachine;
  inbox(handle: string, agent: string): ObservedInbox;
}

const agents = ['sink', 'reader'];
const idOf = (nr: number): string => `id-${String(nr).padStart(3, '0')}`;

function send(run: Run, message: Partial<Message> & { nr: number }, attempt: Partial<SendAttempt> = {}): void {
  const { nr } = message;
  run.ledger.messages.set(nr, {
    machine: 'm1',
    from: null,
    isNamed: false,
    to: 'm2',
    toAgent: null,
    type: 'note',
    key: null,
    payload: { soak: nr },
    ...message,
  });
  run.ledger.sends.push({
    nr,
    startedAt: nr * 10,
    endedAt: nr * 10 + 5,
    outcome: 'accepted',
    id: idOf(nr),
    messageId: nr,
    error: null,
    ...attempt,
  });
}

/** Has it arrive everywhere that it should, as a correct product would. */
function arrive(run: Run, nr: number): void {
  const message = run.ledger.messages.get(nr);
  if (message === undefined) throw new Error(`no message ${nr}`);
  const sender = run.machine(message.machine);
  sender.sentInHistory.push(idOf(nr));
  sender.sentInTip.push(idOf(nr));
  sender.sent.push({ id: idOf(nr), to: message.to, state: 'delivered', deliveredTo: ['m1', 'm2'], acks: [] });
  for (const { handle, inboxes } of run.observed.machines) {
    if (message.to !== '*' && message.to !== handle) continue;
    for (const { agent, messages } of inboxes) {
      if (message.toAgent === null || message.toAgent === agent) messages.push(item(message));
    }
  }
}

function item({ nr, machine, from, type, toAgent, payload }: Message): ObservedMessage {
  return { id: idOf(nr), messageId: nr, from: { machine, agent: from }, type, payload, directed: toAgent !== null };
}

/** Two machines, and four messages that arrived: two to one machine, one to an agent, one to all. */
function goodRun(): Run {
  const observed: Observed = {
    machines: ['m1', 'm2'].map((handle) => ({
      handle,
      inboxes: agents.map((agent) => ({ agent, messages: [] })),
      sentInHistory: [],
      sentInTip: [],
      acks: [],
      sent: [],
    })),
  };
  const machine = (handle: string): ObservedMachine => observed.machines.find((one) => one.handle === handle)!;
  const run: Run = {
    ledger: newLedger(),
    observed,
    machine,
    inbox: (handle, agent) => machine(handle).inboxes.find((one) => one.agent === agent)!,
  };
  send(run, { nr: 1 });
  send(run, { nr: 2 });
  send(run, { nr: 3, toAgent: 'reader' });
  send(run, { nr: 4, to: '*' });
  for (const nr of [1, 2, 3, 4]) arrive(run, nr);
  return run;
}

/** As a reader on m2 that acknowledged it, which came back to m1. */
function acknowledge(run: Run, nr: number): void {
  run.ledger.acks.push({ machine: 'm2', agent: 'reader', ids: [idOf(nr)], outcome: 'accepted', error: null });
  const inbox = run.inbox('m2', 'reader');
  inbox.messages = inbox.messages.filter(({ id }) => id !== idOf(nr));
  run.machine('m1').acks.push({ machine: 'm2', agent: 'reader', id: idOf(nr) });
  const shown = run.machine('m1').sent.find(({ id }) => id === idOf(nr))!;
  shown.state = 'acked';
  shown.acks.push({ machine: 'm2', agent: 'reader' });
}

const kinds = (run: Run): string[] => [
  ...new Set(check(run.ledger, run.observed).findings.map((finding) => finding.kind)),
];

describe('a run in which all is well', () => {
  test('has no findings, and counts each agent that a message was for', () => {
    const run = goodRun();
    expect(check(run.ledger, run.observed)).toEqual({ findings: [], accepted: 4, delivered: 9 });
    acknowledge(run, 1);
    expect(check(run.ledger, run.observed)).toEqual({ findings: [], accepted: 4, delivered: 9 });
  });

  test('may hold a send whose end nobody saw, or not', () => {
    const absent = goodRun();
    send(absent, { nr: 5 }, { outcome: 'unknown', id: null, messageId: null, endedAt: Infinity });
    expect(kinds(absent)).toEqual([]);
    const there = goodRun();
    send(there, { nr: 5 }, { outcome: 'unknown', id: null, messageId: null, endedAt: Infinity });
    arrive(there, 5);
    // The checker learns its id where it is read.
    const { id, messageId, from, type, payload } = item(there.ledger.messages.get(5)!);
    there.ledger.sightings.push({ machine: 'm2', id, messageId, from, type, payload, inbox: 'sink' });
    expect(kinds(there)).toEqual([]);
  });

  test('may hold an acknowledgement whose end nobody saw, or not', () => {
    const run = goodRun();
    run.ledger.acks.push({ machine: 'm2', agent: 'reader', ids: [idOf(2)], outcome: 'unknown', error: null });
    expect(kinds(run)).toEqual([]);
    acknowledge(run, 2);
    expect(kinds(run)).toEqual([]);
  });

  test('may have two sends at once in either order', () => {
    const run = goodRun();
    send(run, { nr: 5 }, { startedAt: 100, endedAt: 200, messageId: 6 });
    send(run, { nr: 6 }, { startedAt: 110, endedAt: 120, messageId: 5 });
    for (const [nr, number] of [
      [6, 5],
      [5, 6],
    ] as const) {
      arrive(run, nr);
      for (const agent of agents) run.inbox('m2', agent).messages.at(-1)!.messageId = number;
    }
    expect(kinds(run)).toEqual([]);
  });
});

describe('each kind of fault is told', () => {
  test('a message that is not in an inbox that it was for', () => {
    const run = goodRun();
    run.inbox('m2', 'sink').messages.splice(1, 1);
    expect(kinds(run)).toEqual(['lost']);
  });

  test('a broadcast that one machine did not get', () => {
    const run = goodRun();
    run.inbox('m1', 'sink').messages.pop();
    expect(kinds(run)).toEqual(['lost']);
  });

  test('a message that is gone from its sender’s branch, or from its tip', () => {
    const fromHistory = goodRun();
    fromHistory.machine('m1').sentInHistory.shift();
    expect(kinds(fromHistory)).toEqual(['lost']);
    const fromTip = goodRun();
    fromTip.machine('m1').sentInTip.shift();
    expect(kinds(fromTip)).toEqual(['lost']);
  });

  test('a message twice in an inbox, under one number or two', () => {
    const run = goodRun();
    const { messages } = run.inbox('m2', 'sink');
    messages.push({ ...messages[0]!, messageId: 9 });
    expect(kinds(run)).toContain('duplicated');
  });

  test('a message that was stored twice under two ids', () => {
    const run = goodRun();
    send(run, { nr: 4, to: '*', key: 'k' }, { id: 'id-other', messageId: 7 });
    expect(kinds(run)).toContain('duplicated');
  });

  test('two commits that send one message', () => {
    const run = goodRun();
    run.machine('m1').sentInHistory.push(idOf(1));
    expect(kinds(run)).toEqual(['duplicated']);
  });

  test('a message that nobody sent, in an inbox, in a branch, or read on the way', () => {
    const stray = {
      id: 'id-x',
      messageId: 9,
      from: { machine: 'm1', agent: null },
      type: 'note',
      payload: { soak: 99 },
    };
    const inInbox = goodRun();
    inInbox.inbox('m2', 'sink').messages.push({ ...stray, directed: false });
    expect(kinds(inInbox)).toEqual(['phantom']);
    const inBranch = goodRun();
    inBranch.machine('m2').sentInHistory.push('id-x');
    expect(kinds(inBranch)).toEqual(['phantom']);
    const onTheWay = goodRun();
    onTheWay.ledger.sightings.push({ machine: 'm2', inbox: 'sink', ...stray });
    expect(kinds(onTheWay)).toEqual(['phantom']);
  });

  test.each([
    ['payload', { payload: { soak: 1, more: true } }],
    ['type', { type: 'ping' }],
    ['machine', { from: { machine: 'm2', agent: null } }],
    ['agent', { from: { machine: 'm1', agent: 'sink' } }],
    ['addressee', { directed: true }],
  ])('a message whose %s is not as it was sent', (_what, change) => {
    const run = goodRun();
    const { messages } = run.inbox('m2', 'sink');
    messages[0] = { ...messages[0]!, ...change };
    expect(kinds(run)).toEqual(['phantom']);
  });

  test('a message to one agent in the inbox of another', () => {
    const run = goodRun();
    run.inbox('m2', 'sink').messages.push({ ...item(run.ledger.messages.get(3)!), messageId: 8 });
    expect(kinds(run)).toContain('phantom');
  });

  test('messages of one sender in another order than they were sent', () => {
    const run = goodRun();
    const { messages } = run.inbox('m2', 'sink');
    [messages[0], messages[1]] = [
      { ...messages[1]!, messageId: 1 },
      { ...messages[0]!, messageId: 2 },
    ];
    expect(kinds(run)).toEqual(['misordered']);
  });

  test('an acknowledgement that nobody gave', () => {
    const inStore = goodRun();
    inStore.machine('m1').acks.push({ machine: 'm2', agent: 'reader', id: idOf(1) });
    expect(kinds(inStore)).toEqual(['wrong ack']);
    const shown = goodRun();
    shown.machine('m1').sent[0]!.acks.push({ machine: 'm2', agent: 'sink' });
    expect(kinds(shown)).toEqual(['wrong ack']);
  });

  test('an acknowledgement twice, and one whose message came back', () => {
    const twice = goodRun();
    acknowledge(twice, 1);
    twice.machine('m1').acks.push({ machine: 'm2', agent: 'reader', id: idOf(1) });
    expect(kinds(twice)).toEqual(['wrong ack']);
    const back = goodRun();
    acknowledge(back, 1);
    back.inbox('m2', 'reader').messages.unshift(item(back.ledger.messages.get(1)!));
    expect(kinds(back)).toEqual(['wrong ack']);
  });

  test('an acknowledgement that did not come to the sender', () => {
    const fromStore = goodRun();
    acknowledge(fromStore, 1);
    fromStore.machine('m1').acks = [];
    expect(kinds(fromStore)).toEqual(['lost ack']);
    const notShown = goodRun();
    acknowledge(notShown, 1);
    notShown.machine('m1').sent[0]!.acks = [];
    expect(kinds(notShown)).toEqual(['lost ack']);
  });

  test('a number that names two messages, a message with two numbers, and numbers that fall', () => {
    const twoMessages = goodRun();
    send(twoMessages, { nr: 5 }, { messageId: 4 });
    arrive(twoMessages, 5);
    expect(kinds(twoMessages)).toContain('number');
    const twoNumbers = goodRun();
    const { payload } = twoNumbers.ledger.messages.get(1)!;
    const seen = { machine: 'm1', id: idOf(1), messageId: 9, from: null, type: null, payload, inbox: null };
    twoNumbers.ledger.sightings.push(seen);
    expect(kinds(twoNumbers)).toEqual(['number']);
    const falling = goodRun();
    falling.inbox('m2', 'sink').messages[1]!.messageId = 1;
    expect(kinds(falling)).toEqual(['number']);
    const givenLate = goodRun();
    givenLate.ledger.sends[0]!.messageId = 9;
    expect(kinds(givenLate)).toEqual(['number']);
  });

  test('a message that is there although its sender was told that nothing was stored', () => {
    const run = goodRun();
    send(run, { nr: 5 }, { outcome: 'denied', id: null, messageId: null, error: 'locked: nothing was stored' });
    arrive(run, 5);
    const { id, messageId, from, type, payload } = item(run.ledger.messages.get(5)!);
    run.ledger.sightings.push({ machine: 'm2', id, messageId, from, type, payload, inbox: 'sink' });
    expect(kinds(run)).toEqual(['denied but stored']);
  });

  test('a message that its sender still holds for undelivered when all is synchronised', () => {
    const run = goodRun();
    run.machine('m1').sent[0]!.state = 'pushed';
    expect(kinds(run)).toEqual(['false state']);
    const partly = goodRun();
    partly.machine('m1').sent[3]!.deliveredTo = [];
    expect(kinds(partly)).toEqual(['false state']);
  });

  test('what was found wrong on the way', () => {
    const run = goodRun();
    run.ledger.faults.push({ kind: 'forced push', text: 'a ref went back' });
    expect(kinds(run)).toEqual(['forced push']);
  });
});
