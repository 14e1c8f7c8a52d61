import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MeshError } from '../errors.js';
import {
  parseAckInput,
  parseAgentsInput,
  parseCheckinInput,
  parseCheckoutInput,
  parseInboxInput,
  parseLogInput,
  parseSendInput,
  parseSentInput,
} from './inputs.js';

function failure(act: () => unknown): MeshError {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(MeshError);
    return error as MeshError;
  }
  throw new Error('nothing was thrown');
}
const ulid = '01KBEST0000000000000000001';
const now = Date.UTC(2026, 11, 2, 12);
const all: [string, (input: unknown) => unknown, object][] = [
  ['agent_checkin', parseCheckinInput, { agent_id: 'a' }],
  ['agents_list', parseAgentsInput, {}],
  ['agent_send', parseSendInput, { to: 'laptop', msg_type: 'note' }],
  ['agent_inbox', parseInboxInput, { agent_id: 'a' }],
  ['agent_ack', parseAckInput, { agent_id: 'a', message_ids: [1] }],
  ['agent_sent', parseSentInput, {}],
  ['agent_checkout', parseCheckoutInput, { agent_id: 'a' }],
  ['log', (input) => parseLogInput(input, { now }), {}],
];

describe.each(all)('%s', (tool, parse, least) => {
  it('takes the least there must be, and null for what is left out', () => {
    expect(() => parse(least)).not.toThrow();
    for (const name of Object.keys(least)) {
      expect(failure(() => parse({ ...least, [name]: null }))).toMatchObject({
        errorName: 'invalid_argument',
        code: 400,
      });
    }
  });

  it('refuses what is no object, and arguments it does not know', () => {
    for (const input of [undefined, null, 'x', 1, [], true])
      expect(failure(() => parse(input)).errorName).toBe('invalid_argument');
    const error = failure(() => parse({ ...least, bogus_thing: 1 }));
    expect(error.errorName).toBe('unknown_argument');
    expect(error.message).toContain(`${tool} has no argument "bogus_thing"`);
    expect(failure(() => parse(JSON.parse('{"__proto__": 1}'))).errorName).toBe('unknown_argument');
    expect(failure(() => parse({ constructor: 1 })).errorName).toBe('unknown_argument');
  });

  it('throws nothing but MeshErrors, whatever it is given', () => {
    const names = [
      'agent_id',
      'role',
      'caps',
      'status',
      'ttl_seconds',
      'to',
      'msg_type',
      'payload',
      'message_ids',
      'limit',
      'after',
      'since',
      'in_reply_to',
      'confirm',
    ];
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom(...names),
          fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
        ),
        (input) => {
          try {
            parse(input);
          } catch (error) {
            expect(error).toBeInstanceOf(MeshError);
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('an unknown argument', () => {
  it.each([
    ['agentid', 'agent_id'],
    ['agentId', 'agent_id'],
    ['agent', 'agent_id'],
    ['id', null],
    ['ttl', 'ttl_seconds'],
    ['ttlSeconds', 'ttl_seconds'],
    ['pane', 'herdr_pane'],
    ['cap', 'caps'],
    ['statsu', 'status'],
    ['xyzzy', null],
  ])('%s is answered with the nearest that is known: %s', (name, nearest) => {
    const error = failure(() => parseCheckinInput({ agent_id: 'a', [name]: 'x' }));
    expect(error.data['nearest']).toBe(nearest);
    if (nearest !== null) expect(error.message).toContain(`Did you mean "${nearest}"?`);
  });
});

describe('agent_checkin', () => {
  it('gives what was said, undefined for what was left out, null for what was cleared', () => {
    expect(parseCheckinInput({ agent_id: 'Builder', status: '', role: 'x', confirm: true })).toEqual({
      agent_id: 'Builder',
      role: 'x',
      repo: undefined,
      caps: undefined,
      status: null,
      ttl_seconds: undefined,
      herdr_pane: undefined,
      confirm: true,
    });
    expect(parseCheckinInput({ agent_id: 'a', caps: ['merge'], ttl_seconds: 60 })).toMatchObject({
      caps: ['merge'],
      ttl_seconds: 60,
      confirm: false,
    });
  });

  it('takes text as people write it in any script', () => {
    const status = '👩‍💻 revisión: می‌خواهم';
    expect(parseCheckinInput({ agent_id: 'a', status }).status).toBe(status);
  });

  it.each([59, 86_401, 0, -1, 60.5, '60', Number.NaN])('names the range for the ttl %s', (ttl) => {
    expect(failure(() => parseCheckinInput({ agent_id: 'a', ttl_seconds: ttl })).message).toContain('60-86400');
  });

  it.each<[string, unknown]>([
    ['agent_id', '../x'],
    ['agent_id', 3],
    ['role', 'x'.repeat(201)],
    ['role', 3],
    ['repo', 'a\nb'],
    ['status', 'two\nlines'],
    ['status', 'esc\u001b[31m'],
    ['status', 'line\u2028separator'],
    ['status', '\ud800'],
    ['status', 'x'.repeat(501)],
    ['caps', 'merge'],
    ['caps', ['']],
    ['caps', [1]],
    ['caps', [null]],
    ['caps', ['x'.repeat(65)]],
    ['caps', Array.from({ length: 33 }, () => 'x')],
    ['herdr_pane', '-x'],
    ['herdr_pane', ''],
    ['herdr_pane', 'a\u0000'],
    ['herdr_pane', 'x'.repeat(201)],
    ['confirm', 'yes'],
  ])('refuses %s = %j by name', (name, value) => {
    const error = failure(() => parseCheckinInput({ agent_id: 'a', [name]: value }));
    expect(error.errorName).toBe('invalid_argument');
    expect(error.message).toContain(name);
  });
});

describe('agent_send', () => {
  const send = (input: object): unknown => parseSendInput({ to: 'laptop', msg_type: 'note', ...input });

  it('fills in the defaults', () => {
    expect(send({})).toMatchObject({ payload: {}, ttl_seconds: 604_800, to_agent: undefined, key: undefined });
    expect(send({ msg_type: 'freeze' })).toMatchObject({ ttl_seconds: 86_400 });
    expect(send({ to: 'No Handle!' })).toMatchObject({ to: 'No Handle!' });
  });

  it('checks the payload, its size, the type and the addressee in this order', () => {
    const big = { s: 'x'.repeat(16_384) };
    for (const [payload, got] of [
      [[], 'a list'],
      [null, 'null'],
      ['{}', '"{}"'],
      [7, '7'],
      [true, 'true'],
    ] as const) {
      const { code, message } = failure(() => parseSendInput({ payload }));
      expect([code, message]).toEqual([400, expect.stringMatching(/^payload: expected a JSON object .*; got /)]);
      expect(message).toContain(`got ${got}`);
    }
    expect(failure(() => parseSendInput({ payload: big })).errorName).toBe('payload_too_large');
    expect(failure(() => parseSendInput({ msg_type: 'x' })).message).toContain(
      'ping, pr-ready, freeze, freeze-clear, release-out, handoff, note',
    );
    expect(failure(() => parseSendInput({ msg_type: 'note' })).message).toContain('agent_send needs to');
  });

  it('measures the payload in bytes of compact JSON, and gives both sizes', () => {
    expect(send({ payload: { s: 'x'.repeat(16_384 - 8) } })).toBeDefined();
    const error = failure(() => send({ payload: { s: 'é'.repeat(8_190) } }));
    expect(error).toMatchObject({ code: 413, data: { bytes: 16_388, max_bytes: 16_384 } });
    expect(error.message).toMatch(/16388.*16384/);
  });

  it('refuses payloads that JSON or UTF-8 cannot carry', () => {
    const nest = (levels: number): unknown => (levels === 0 ? 1 : { a: nest(levels - 1) });
    expect(send({ payload: nest(64) })).toBeDefined();
    expect(failure(() => send({ payload: nest(65) })).message).toContain('64 levels');
    const loop: Record<string, unknown> = {};
    loop['loop'] = loop;
    expect(failure(() => send({ payload: loop })).message).toContain('64 levels');
    for (const value of ['\ud800', Number.NaN, 1n, () => 1, Symbol('x'), { '\udc00': 1 }])
      expect(failure(() => send({ payload: { a: [value] } })).errorName).toBe('invalid_argument');
  });

  it('keeps every JSON value of a payload', () => {
    const payload = JSON.parse('{"__proto__":{"x":1},"n":1e21,"s":"no","l":[null,-0.5,[]]}') as unknown;
    expect(JSON.stringify((send({ payload }) as { payload: unknown }).payload)).toBe(JSON.stringify(payload));
  });

  it('refuses * with one agent, and a freeze without what it needs', () => {
    expect(failure(() => send({ to: '*', to_agent: 'qa' })).message).toContain('takes no to_agent');
    expect(failure(() => send({ msg_type: 'freeze', payload: { repo: 3 } })).message).toContain('payload.repo');
    expect(failure(() => send({ msg_type: 'freeze-clear' })).message).toContain('in_reply_to');
    expect(failure(() => send({ msg_type: 'freeze-clear', payload: { repo: 3 }, in_reply_to: 1 })).message).toContain(
      'payload.repo',
    );
    expect(send({ msg_type: 'freeze-clear', payload: { repo: 'a' } })).toBeDefined();
    expect(send({ msg_type: 'freeze-clear', in_reply_to: 1 })).toBeDefined();
    expect(send({ payload: { repo: 3 } })).toBeDefined();
  });

  it('takes a number or a ULID for in_reply_to', () => {
    for (const [given, parsed] of [
      [7, 7],
      ['7', 7],
      [ulid, ulid],
      [ulid.toLowerCase(), ulid],
    ] as const)
      expect(send({ in_reply_to: given })).toMatchObject({ in_reply_to: parsed });
    for (const bad of [0, -1, 1.5, 'x', '', '07', `${ulid}0`, {}, true])
      expect(failure(() => send({ in_reply_to: bad })).message).toContain('in_reply_to');
  });

  it('names the range of the ttl', () => {
    for (const ttl of [59, 2_592_001])
      expect(failure(() => send({ ttl_seconds: ttl })).message).toContain('60-2592000');
  });
});

describe('agent_ack', () => {
  const ack = (input: object, options = {}): unknown => parseAckInput({ agent_id: 'a', ...input }, options);
  it('takes numbers, each once, and ULIDs or all only where they are allowed', () => {
    expect(ack({ message_ids: [3, 1, 3] })).toMatchObject({ message_ids: [3, 1], all: false, confirm: false });
    expect(failure(() => ack({ message_ids: [ulid] })).message).toContain('message_ids[0]');
    expect(failure(() => ack({ all: true })).errorName).toBe('unknown_argument');
    expect(ack({ message_ids: [ulid, 2, '2'] }, { allowUlids: true })).toMatchObject({ message_ids: [ulid, 2] });
    expect(ack({ all: true }, { allowUlids: true })).toMatchObject({ all: true, message_ids: [] });
    expect(failure(() => ack({ all: true, message_ids: [1] }, { allowUlids: true })).message).toContain('beside all');
  });
  it.each([[[]], ['1'], [[0]], [[1.5]], [[-1]], [[null]], [[{}]], [Array.from({ length: 1001 }, (_, i) => i + 1)]])(
    'refuses the list %j',
    (ids) => {
      expect(failure(() => ack({ message_ids: ids })).message).toContain('message_ids');
    },
  );
});

describe('the others', () => {
  it('have the ranges and defaults of the tools', () => {
    expect(parseInboxInput({ agent_id: 'a' })).toEqual({ agent_id: 'a', limit: 50, after: undefined, wait_seconds: 0 });
    expect(parseInboxInput({ agent_id: 'a', after: ulid, limit: 100, wait_seconds: 45 })).toMatchObject({
      after: ulid,
    });
    for (const bad of [{ limit: 0 }, { limit: 101 }, { wait_seconds: 46 }, { wait_seconds: -1 }, { after: 'x' }])
      expect(failure(() => parseInboxInput({ agent_id: 'a', ...bad })).message).toMatch(/1-100|0-45|after/);
    expect(parseSentInput({})).toEqual({ agent_id: undefined, limit: 20 });
    expect(parseAgentsInput({ include_stale: true })).toEqual({ agent_id: undefined, include_stale: true });
    expect(parseCheckoutInput({ agent_id: 'a' })).toEqual({ agent_id: 'a', confirm: false });
  });

  it.each([
    ['2h', now - 7_200_000],
    ['3d', now - 259_200_000],
    ['2026-12-01', Date.UTC(2026, 11, 1)],
    ['2026-12-01T05:00', Date.UTC(2026, 11, 1, 5)],
    ['2026-12-01 05:00:30', Date.UTC(2026, 11, 1, 5, 0, 30)],
    ['2026-12-01T05:00:00+02:00', Date.UTC(2026, 11, 1, 3)],
  ])('read the time %s', (text, at) => {
    expect(parseLogInput({ since: text }, { now })).toMatchObject({ since: at, until: undefined });
  });
  it.each(['', 'yesterday', '2026-02-30', '2026-13-01', '5', '2026-12-01T25:00', '1y'])(
    'refuse the time %j',
    (text) => {
      expect(failure(() => parseLogInput({ until: text }, { now })).message).toContain('until: expected an age');
    },
  );
  it('refuse a log of no machine and no type', () => {
    expect(failure(() => parseLogInput({ machine: 'No!' }, { now })).message).toContain('handle');
    expect(failure(() => parseLogInput({ type: 'memo' }, { now })).message).toContain('freeze-clear');
  });
});
