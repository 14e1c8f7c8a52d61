import { expect, test } from 'vitest';
import { solo } from '../machines.js';
import type { ToolName } from '../mcp-session.js';

const types = ['ping', 'pr-ready', 'freeze', 'freeze-clear', 'release-out', 'handoff', 'note'];

interface Case {
  what: string;
  tool: ToolName;
  args: Record<string, unknown>;
  code: number;
  name: string;
  /** What the text must say, for the caller to mend the call. */
  says: (string | RegExp)[];
}

const sixty = /\b60\b/;
const day = /86,?400/;
const invalid = { code: 400, name: 'invalid_argument' };
const send = (fields: Record<string, unknown>): Record<string, unknown> => ({
  to: 'solo',
  msg_type: 'note',
  ...fields,
});

const cases: Case[] = [
  ...[59, 86_401, 0, -1, 60.5].map((ttl): Case => ({
    what: `a presence ttl of ${ttl}`,
    tool: 'agent_checkin',
    args: { agent_id: 'x', ttl_seconds: ttl, confirm: true },
    ...invalid,
    says: [sixty, day],
  })),
  ...['', '../evil', '-x', 'a/b', 'CON', 'nul.txt', 'dot.', 'x'.repeat(65), 'a\u0000b', '.git', 'ñandú', 'a b'].map(
    (id): Case => ({
      what: `the agent_id ${JSON.stringify(id.slice(0, 12))}`,
      tool: 'agent_checkin',
      args: { agent_id: id, confirm: true },
      ...invalid,
      says: ['agent_id'],
    }),
  ),
  {
    what: 'an agent_id that is refused even as a preview',
    tool: 'agent_checkin',
    args: { agent_id: 'com1' },
    ...invalid,
    says: ['agent_id'],
  },
  {
    what: 'an argument that no tool knows, with the nearest name',
    tool: 'agent_checkin',
    args: { agent_id: 'x', ttl_secnds: 90, confirm: true },
    code: 400,
    name: 'unknown_argument',
    says: ['ttl_secnds', 'ttl_seconds'],
  },
  {
    what: 'a payload over the limit, with both sizes',
    tool: 'agent_send',
    args: send({ payload: { s: 'x'.repeat(16_384) } }),
    code: 413,
    name: 'payload_too_large',
    says: [/16,?384/, /16,?392/],
  },
  {
    what: 'a payload whose bytes, not characters, are over the limit',
    tool: 'agent_send',
    args: send({ payload: { s: 'é'.repeat(8190) } }),
    code: 413,
    name: 'payload_too_large',
    says: [/16,?384/, /16,?388/],
  },
  {
    what: 'a payload too large before an unknown type',
    tool: 'agent_send',
    args: { to: 'nowhere', msg_type: 'nothing', payload: { s: 'x'.repeat(16_384) } },
    code: 413,
    name: 'payload_too_large',
    says: [/16,?384/],
  },
  {
    what: 'a list as payload',
    tool: 'agent_send',
    args: send({ payload: [1] }),
    ...invalid,
    says: ['payload', 'object'],
  },
  {
    what: 'a text as payload',
    tool: 'agent_send',
    args: send({ payload: 'hi' }),
    ...invalid,
    says: ['payload', 'object'],
  },
  {
    what: 'an unknown type, with the list of types, before an unknown machine',
    tool: 'agent_send',
    args: { to: 'nowhere', msg_type: 'congelar' },
    ...invalid,
    says: types,
  },
  {
    what: 'one agent on all machines',
    tool: 'agent_send',
    args: send({ to: '*', to_agent: 'qa' }),
    ...invalid,
    says: ['to_agent', '*'],
  },
  {
    what: 'an unknown machine, with the known ones',
    tool: 'agent_send',
    args: send({ to: 'nowhere' }),
    code: 404,
    name: 'machine_not_found',
    says: ['nowhere', 'solo'],
  },
  {
    what: 'what can be no machine',
    tool: 'agent_send',
    args: send({ to: '../solo' }),
    code: 404,
    name: 'machine_not_found',
    says: ['solo'],
  },
  {
    what: 'an agent that is not alive, with the alive ones',
    tool: 'agent_send',
    args: send({ to_agent: 'nobody' }),
    code: 404,
    name: 'agent_not_alive',
    says: ['nobody', 'boss'],
  },
  ...[59, 2_592_001].map((ttl): Case => ({
    what: `a message ttl of ${ttl}`,
    tool: 'agent_send',
    args: send({ ttl_seconds: ttl }),
    ...invalid,
    says: [sixty, /2,?592,?000/],
  })),
  {
    what: 'a freeze-clear that says neither which freeze nor which repo',
    tool: 'agent_send',
    args: send({ msg_type: 'freeze-clear' }),
    ...invalid,
    says: ['in_reply_to', 'repo'],
  },
  {
    what: 'the inbox of an agent that is not checked in',
    tool: 'agent_inbox',
    args: { agent_id: 'late' },
    code: 409,
    name: 'not_checked_in',
    says: ['late', 'agent_checkin'],
  },
  ...[0, 101, 1.5].map((limit): Case => ({
    what: `an inbox limit of ${limit}`,
    tool: 'agent_inbox',
    args: { agent_id: 'boss', limit },
    ...invalid,
    says: ['limit', '100'],
  })),
  {
    what: 'a wait longer than clients wait',
    tool: 'agent_inbox',
    args: { agent_id: 'boss', wait_seconds: 46 },
    ...invalid,
    says: ['wait_seconds', '45'],
  },
  {
    what: 'an acknowledgement of nothing but unknown messages',
    tool: 'agent_ack',
    args: { agent_id: 'boss', message_ids: [900, 901], confirm: true },
    code: 404,
    name: 'unknown_message',
    says: ['900', '901'],
  },
  {
    what: 'a ULID where agent_ack takes numbers',
    tool: 'agent_ack',
    args: { agent_id: 'boss', message_ids: ['01KBEST0000000000000000001'], confirm: true },
    ...invalid,
    says: ['message_ids'],
  },
  { what: 'a sent limit of 101', tool: 'agent_sent', args: { limit: 101 }, ...invalid, says: ['limit', '100'] },
];

test('whatever the tools refuse, they refuse with code, name and what to do, and nothing is stored', async () => {
  const machine = await solo();
  const session = await machine.mcp();
  await session.checkin('boss');
  const before = machine.commits();
  for (const { what, tool, args, code, name, says } of cases) {
    const error = await session.refused(tool, args);
    expect([error.code, error.name], `${what}: ${error.text}`).toEqual([code, name]);
    for (const word of says) {
      if (typeof word === 'string') expect(error.message, what).toContain(word);
      else expect(error.message, what).toMatch(word);
    }
    expect(error.text, what).toContain(error.message);
    expect(JSON.stringify(error), `${what}: no stack and no path of this machine`).not.toMatch(/\.[jt]s:\d+|store\//);
    expect(JSON.stringify(error), what).not.toContain(machine.root);
  }
  expect(machine.commits(), 'commits made by refused calls').toBe(before);
  expect((await session.call('agent_sent')).messages).toEqual([]);
});

test('an error carries what the caller needs as data', async () => {
  const machine = await solo();
  const session = await machine.mcp();
  await session.checkin('boss');
  await session.checkin('qa');
  const notAlive = await session.refused('agent_send', send({ to_agent: 'nobody' }));
  expect(notAlive['alive_agents']).toEqual(['boss', 'qa']);
  const unknown = await session.refused('agent_send', send({ to: 'nowhere' }));
  expect(Object.values(unknown)).toContainEqual(['solo']);
});

test('a payload of exactly the limit is sent and comes back unchanged', async () => {
  const machine = await solo();
  const session = await machine.mcp();
  await session.checkin('boss');
  const payload = { s: 'é'.repeat((16_384 - 8) / 2) };
  await session.send('solo', { payload });
  expect((await session.call('agent_inbox', { agent_id: 'boss' })).messages[0]?.payload).toEqual(payload);
});

test('the command line refuses the same, with the documented exit codes', async () => {
  const machine = await solo();
  await machine.json(['checkin', 'boss']);
  const refusals: [[string, ...string[]], number, string][] = [
    [['send', 'solo', 'congelar'], 2, 'invalid_argument'],
    [['send', 'solo', 'note', '--payload', '{"s":'], 2, 'invalid_argument'],
    [['send', 'solo', 'note', '--payload', '[1]'], 2, 'invalid_argument'],
    [['send', 'solo', 'note', '--message', 'x'.repeat(16_384)], 2, 'payload_too_large'],
    [['send', 'solo', 'note', '--ttl', 'soon'], 2, 'invalid_argument'],
    [['send', 'nowhere', 'note'], 3, 'machine_not_found'],
    [['send', 'solo', 'note', '--to-agent', 'nobody'], 3, 'agent_not_alive'],
    [['ack', 'boss', '900'], 3, 'unknown_message'],
    [['inbox', 'late'], 4, 'not_checked_in'],
    [['checkin', 'boss', '--ttl', '59'], 2, 'invalid_argument'],
    [['init'], 4, 'mesh_exists'],
    [['no-such-command'], 2, 'invalid_argument'],
    [['inbox', 'boss', '--no-such-option'], 2, 'invalid_argument'],
  ];
  for (const [args, exitCode, name] of refusals) {
    const error = await machine.refused(args);
    expect([error.exitCode, error.name], `${args.join(' ').slice(0, 60)}: ${error.message}`).toEqual([exitCode, name]);
  }
});
