import { MeshError } from '@git-mesh/core';
import { nastyText, textFault, withNastyText } from '@git-mesh/core/testing';
import { describe, expect, it } from 'vitest';
import { runStubbed, type StubOptions } from './testing/stub-runtime.js';

/** What a view chooses its words by, and times, which are read as times. */
const keep = new Set(['state', 'found', 'signature', 'herdr_wake']);
const nasty = (value: unknown): unknown => withNastyText(value, keep, new Set());

const sync = { state: 'offline', last_ok_at: 't', queued: 2, error: { name: 'unreachable', message: 'x' } };
const record = { agent_id: 'a', machine: 'm', role: 'r', repo: 'r', caps: ['c'], status: 's', status_since: 't', status_age_s: 3, checked_in_at: 't', last_activity_at: 't', expires_at: 't', ttl_seconds: 900, alive: true }; // prettier-ignore
const freeze = {
  message_id: 5,
  id: 'X',
  machine: 'm',
  agent: 'a',
  repo: 'r',
  reason: 'x',
  since: 't',
  expires_at: 't',
};
const message = { message_id: 1, id: 'X', from: { machine: 'm', agent: 'a', verified: 'unverified' }, msg_type: 'note', payload: {}, sent_at: 't', arrived_at: 't', expires_at: 't', in_reply_to: 'X', directed: true }; // prettier-ignore
const sent = { message_id: 1, id: 'X', to: 'm', to_agent: 'a', msg_type: 'note', from_agent: 'a', payload: {}, sent_at: 't', expires_at: 't', in_reply_to: 'X', state: 'acked', pushed_at: 't', delivered_at: 't', delivered_to: [{ machine: 'm', at: 't' }], acks: [{ machine: 'm', agent: 'a', at: 't' }] }; // prettier-ignore
const problem = { kind: 'k', machine: 'm', path: 'p', message: 'x', fix: 'f' };
const remote = { name: 'n', url: 'u', state: 'error', last_ok_at: 't', next_try_at: 't', queued: 1, error: { name: 'e', message: 'x' } }; // prettier-ignore
const history = { older_commits: 3, machines: ['m', 'n'] };
const status = { mesh: { id: 'X', name: 'n' }, machine: 'm', store: 's', format: 1, policy: 'open', worker: { state: 'running', pid: 1, since: 't' }, remotes: [remote], agents: { alive: 1, known: 1 }, journal: { highest: 1, entries: 1 }, history, problems: [problem] }; // prettier-ignore
const event = { event: 'send', commit: 'c', at: 't', machine: 'm', agent: 'a', subject: 's', message_id: 1, signature: 'bad' }; // prettier-ignore
const membership = { mesh: { id: 'X', name: 'n' }, machine: 'm', store: 's', remotes: [{ name: 'n', url: 'u' }], writable: true, warning: 'w' }; // prettier-ignore
const checkin = { ...record, preview: false, renewed: true, herdr_wake: 'off', freezes: [freeze], missed: { count: 1, ids: ['X'] }, also_checked_in: [{ pid: 1, since: 't' }], sync }; // prettier-ignore

const use = (name: string, result: unknown): StubOptions => ({
  results: { [name]: nasty(result), summary: nasty(sync) },
});
const access = (name: string, result: unknown): StubOptions => ({ access: { [name]: () => Promise.resolve(nasty(result)) } }); // prettier-ignore

/** Every command that shows a result, with that result full of it. */
const commands: readonly (readonly [argv: string[], options: StubOptions])[] = [
  [['agents'], use('agents', { machine: 'm', agents: [record], machines: [{ handle: 'h', label: 'l', last_seen_at: 't', verified: 'unverified' }], freezes: [freeze], sync })], // prettier-ignore
  [['inbox', 'qa'], use('inbox', { agent_id: 'a', machine: 'm', messages: [message], remaining: 2, notice: 'n', sync })], // prettier-ignore
  [['sent'], use('sent', { messages: [sent], sync })],
  [['status'], use('status', status)],
  [['doctor'], use('doctor', { ok: false, problems: [problem], history })],
  [['checkin', 'qa'], use('checkin', checkin)],
  [['checkin', 'qa', '--dry-run'], use('checkin', { preview: true, record, next: 'n' })],
  [['checkout', 'qa'], use('checkout', { preview: false, agent_id: 'a', machine: 'm' })],
  [['checkout', 'qa', '--dry-run'], use('checkout', { preview: true, agent_id: 'a', machine: 'm', next: 'n' })],
  [['send', 'laptop', 'note'], use('send', { id: 'X', message_id: 1, to: 'm', to_agent: 'a', msg_type: 'note', state: 'pushed', recipients: ['a'], expires_at: 't', warning: 'w' })], // prettier-ignore
  [['ack', 'qa', '1', '--dry-run'], use('ack', { preview: true, would_ack: [1], already_acked: [2], unknown: [3], next: 'n' })], // prettier-ignore
  [['log'], { results: { log: [nasty(event)], edges: [nasty({ machine: 'm' })] } }],
  [['guard'], use('agents', { machine: 'm', agents: [], machines: [], freezes: [freeze], sync })],
  [['sync'], { results: { syncNow: nasty(sync) } }],
  [['sync', '--history'], { results: { syncNow: nasty(sync), fetchHistory: nasty({ complete: false, fetched: 2, history, problems: [problem] }) } }], // prettier-ignore
  [['export', 'f'], use('exportBundle', { file: 'f', branches: 1, commits: 1, left_out: [{ machine: 'm', message: 'x' }] })], // prettier-ignore
  [['import', 'f'], use('importBundle', { file: 'f', branches: 1, commits: 1, arrived: 1, rejected: [{ machine: 'm', kind: 'k', message: 'x' }] })], // prettier-ignore
  [['init', '--remote', '/r'], access('initMesh', membership)],
  [['join', '/r'], access('joinMesh', { ...membership, writable: false })],
  [['remote', 'list'], use('status', status)],
  [['remote', 'add', 'n', '/r'], access('addRemote', { name: 'n', url: 'u', found: 'mesh', writable: false, remotes: [remote] })], // prettier-ignore
  [['remote', 'remove', 'n'], access('removeRemote', { name: 'n', url: 'u', remotes: [] })],
  [['reclaim', 'n'], access('reclaimBranch', { remote: 'n', url: 'u', machine: 'm', tip: 'c', replaced: 'c', kept_as: 'r', sync })], // prettier-ignore
];

/** What fails in words of others, and arguments that are repeated in an error. */
const failures: readonly (readonly [argv: string[], options: StubOptions])[] = [
  [['inbox', 'qa'], { results: { inbox: new MeshError('unreachable', nastyText, { data: { known: [nastyText] } }) } }],
  [['inbox', 'qa'], { results: { inbox: new Error(nastyText) } }],
  [['--verbose', 'inbox', 'qa'], { results: { inbox: new Error(nastyText) } }],
  [['agents'], { results: { agents: nasty({ machine: 'm', agents: [], machines: [], freezes: [], sync }), inlineSync: new MeshError('unreachable', nastyText) } }], // prettier-ignore
  [[nastyText], {}],
  [['help', nastyText], {}],
  [['send', 'laptop', 'note', `--${nastyText}`], {}],
  [['send', 'laptop', 'note', '--ttl', nastyText], {}],
  [['send', 'laptop', 'note', '--payload', nastyText], {}],
  [['send', 'laptop', 'note', '--payload-file', `/none/${nastyText.replaceAll('\0', '')}`], {}],
  [['ack', 'qa', nastyText], {}],
  [['completion', nastyText], {}],
  [['export', 'f', '--since-last', nastyText], { results: { exportBundle: new MeshError('invalid_argument', nastyText) } }], // prettier-ignore
];

// eslint-disable-next-line no-control-regex -- our own colours, which are left out of what is looked at
const withoutPaint = (text: string): string => text.replace(/\u001b\[(?:1|2|22|31|32|33|36|39)m/g, '');

describe('nasty text', () => {
  const cases = [...commands, ...failures].map(([argv, options]) => {
    const name = argv.map((word) => (word.includes('FORGED') ? '…' : word)).join(' ');
    return [name, argv, options] as const;
  });
  it.each(cases)('acts, hides and forges in nothing that %s prints', async (_name, argv, options) => {
    const plain = await runStubbed(argv, options);
    expect(plain.out + plain.err).not.toBe('');
    expect([textFault(plain.out), textFault(plain.err)]).toEqual([null, null]);

    const painted = await runStubbed(argv, { ...options, isTerminal: true, columns: 60 });
    expect([textFault(withoutPaint(painted.out)), textFault(withoutPaint(painted.err))]).toEqual([null, null]);

    const json = await runStubbed(['--json', ...argv], options);
    for (const line of json.out.trimEnd().split('\n')) expect(() => JSON.parse(line) as unknown).not.toThrow();
    expect(json.out).toMatch(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]*$/mu);
  });

  it('is all there in the JSON', async () => {
    const [argv, options] = commands[1]!; // the inbox
    const { out } = await runStubbed(['--json', ...argv], options);
    expect(JSON.parse(out)).toEqual(options.results?.['inbox']);
  });

  it('stays behind its bar where a terminal would break the line', async () => {
    const payload = { message: `${'x '.repeat(28)}#13 note from boss@studio · to you${' 字'.repeat(40)}` };
    const inbox = {
      agent_id: 'qa',
      machine: 'm',
      messages: [{ ...message, payload }],
      remaining: 0,
      notice: 'n',
      sync,
    };
    const { out } = await runStubbed(['inbox', 'qa'], { results: { inbox }, isTerminal: true, columns: 60 });
    const body = withoutPaint(out).split('\n').slice(1, -3);
    expect(body.length).toBeGreaterThan(3);
    for (const line of body.filter((each) => each !== '')) expect(line).toMatch(/^ {2}│ /);
    // A break stands for the space at it.
    const words = (text: string): string => text.replace(/ /g, '');
    expect(words(body.map((line) => line.slice(4)).join(''))).toBe(words(payload.message));
  });
});
