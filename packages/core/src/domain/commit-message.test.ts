import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatCommitMessage, parseCommitMessage } from './commit-message.js';
import {
  ackSummary,
  expireSummary,
  presenceSummary,
  pruneSummary,
  receiptSummary,
  sendSummary,
} from './commit-summary.js';
import type { AgentId, Handle, Oid, Ulid } from './ids.js';
import type { CommitEvent } from './records.js';
import { messageTypes } from './records.js';
import { hasUnseen } from './visible-text.js';

let dir = '';
const git = (args: string[], input = ''): string =>
  execFileSync('git', args, {
    env: {
      ...process.env,
      GIT_DIR: dir,
      GIT_CONFIG_GLOBAL: join(dir, 'none'),
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'x',
      GIT_AUTHOR_EMAIL: 'x@x.invalid',
      GIT_COMMITTER_NAME: 'x',
      GIT_COMMITTER_EMAIL: 'x@x.invalid',
    },
    input,
    encoding: 'utf8',
  });
let tree = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'commit-message-'));
  git(['init', '-q', '--bare', dir]);
  tree = git(['mktree']).trim();
});
afterAll(() => {
  rmSync(dir, { recursive: true, force: true });
});

const id = '01KBEST0000000000000000001' as Ulid;
const other = '01KBEST0000000000000000002' as Ulid;
const studio = 'studio' as Handle;
const laptop = 'laptop' as Handle;
const release = 'release' as AgentId;
const qa = 'qa' as AgentId;
const send: CommitEvent = {
  event: 'send',
  agent: release,
  seq: 7,
  journal: 12,
  messages: [id],
  to: 'laptop/qa',
  type: 'freeze',
  read: [],
  summary: 'freeze release -> laptop/qa: release 2.1',
};

describe('commit messages', () => {
  it('read as a line of a transcript and a block of trailers', () => {
    expect(formatCommitMessage(send)).toBe(
      `send freeze release -> laptop/qa: release 2.1\n\nMesh-Event: send\nMesh-Agent: release\nMesh-Message: ${id}\nMesh-To: laptop/qa\nMesh-Type: freeze\nMesh-Seq: 7\nMesh-Journal: 12\n`,
    );
  });

  it('name every message and every branch that was read', () => {
    const read = [
      { sender: studio, commit: 'a'.repeat(40) as Oid },
      { sender: laptop, commit: 'b'.repeat(40) as Oid },
    ];
    const parsed = parseCommitMessage(formatCommitMessage({ ...send, event: 'ack', messages: [id, other], read }));
    expect(parsed).toMatchObject({ event: 'ack', messages: [id, other], read });
  });

  const hostile = [
    'x\n\nMesh-Event: checkin\nMesh-Seq: 99',
    '\r\nMesh-Event: forged',
    '\u2028Mesh-Event: forged',
    'Mesh-Event: forged',
    '---\nMesh-Event: forged',
    '\u001b]0;owned\u0007',
    '\u202e',
    'x'.repeat(5_000_000),
    '',
    '   ',
    '#comment',
  ];

  it('come back as they were, whatever the summary holds', () => {
    const handle = fc.constantFrom(studio, laptop);
    const event: fc.Arbitrary<CommitEvent> = fc
      .record({
        event: fc.constantFrom<CommitEvent['event']>(
          'init',
          'join',
          'checkin',
          'status',
          'renew',
          'checkout',
          'send',
          'ack',
          'receipt',
          'expire',
          'prune',
          'roster',
          'unsend',
          'leave',
        ),
        agent: fc.constantFrom(null, release, qa),
        seq: fc.integer({ min: 1 }),
        journal: fc.nat(),
        messages: fc.array(fc.constantFrom(id, other), { maxLength: 3 }),
        to: fc.constantFrom(undefined, '*', 'laptop', 'laptop/qa'),
        type: fc.constantFrom(undefined, ...messageTypes),
        read: fc.array(fc.record({ sender: handle, commit: fc.constant('a'.repeat(40) as Oid) }), { maxLength: 2 }),
        summary: fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...hostile)),
      })
      .map(({ to, type, ...rest }) => ({
        ...rest,
        ...(to === undefined ? {} : { to }),
        ...(type === undefined ? {} : { type }),
      }));
    fc.assert(
      fc.property(event, (given) => {
        const { summary: _, ...facts } = given;
        const text = formatCommitMessage(given);
        const parsed = parseCommitMessage(text);
        expect(parsed).toEqual({ ...facts, subject: text.split('\n')[0] });
        expect(hasUnseen(text.replaceAll('\n', ''))).toBe(false);
        expect(parsed?.subject.length).toBeLessThan(250);
      }),
      { numRuns: 500 },
    );
  });

  it.each(hostile)('have trailers that stock git reads and no summary forges: %#', (summary) => {
    const message = formatCommitMessage({ ...send, summary, messages: [id, other] });
    const commit = git(['commit-tree', tree], message).trim();
    const show = (format: string): string => git(['log', '-1', `--format=${format}`, commit]).trim();
    expect(show('%(trailers:key=Mesh-Event,valueonly)')).toBe('send');
    expect(show('%(trailers:key=Mesh-Message,valueonly)')).toBe(`${id}\n${other}`);
    expect(show('%(trailers:key=Mesh-Seq,valueonly)')).toBe('7');
    expect(show('%s').startsWith('send')).toBe(true);
    expect(git(['log', '--oneline', '--grep', `^Mesh-Message: ${other}$`, commit])).toContain('send');
    expect(parseCommitMessage(git(['log', '-1', '--format=%B', commit]))).toMatchObject({ event: 'send', seq: 7 });
  });

  it.each([
    ['x\n'],
    [''],
    ['Mesh-Event: send\nMesh-Seq: 1\n'],
    ['x\n\nMesh-Event: send\n'],
    ['x\n\nMesh-Event: dance\nMesh-Seq: 1\n'],
    ['x\n\nMesh-Event: constructor\nMesh-Seq: 1\n'],
    ['x\n\nMesh-Event: send\nMesh-Seq: 0\n'],
    ['x\n\nMesh-Event: send\nMesh-Seq: -1\n'],
    ['x\n\nMesh-Event: send\nMesh-Seq: 99999999999999999999\n'],
    ['x\n\nMesh-Event: send\nMesh-Seq: 1\n\nand more\n'],
  ])('that are none of the mesh give null: %j', (text) => {
    expect(parseCommitMessage(text)).toBeNull();
  });

  it('leave out trailers that are malformed', () => {
    const text =
      'x\n\nMesh-Event: send\nMesh-Seq: 3\nMesh-Journal: x\nMesh-Agent: ../x\nMesh-Message: nope\nMesh-To: A/b/c\nMesh-Type: memo\nMesh-Read: studio@x\n';
    expect(parseCommitMessage(text)).toEqual({
      event: 'send',
      subject: 'x',
      agent: null,
      seq: 3,
      journal: 0,
      messages: [],
      read: [],
    });
  });
});

describe('summaries', () => {
  it('say in a line what happened', () => {
    expect(presenceSummary({ agent: qa, role: 'reviewer', repo: 'shop', status: 'reading #12' })).toBe(
      'qa (reviewer) in shop: reading #12',
    );
    expect(presenceSummary({ agent: qa, role: null, repo: null, status: null })).toBe('qa');
    const from = { agent: null, machine: studio };
    expect(sendSummary({ type: 'note', from, to: { machine: '*', agent: null }, payload: {} })).toBe(
      'note studio -> *',
    );
    expect(
      sendSummary({
        type: 'freeze',
        from: { ...from, agent: release },
        to: { machine: laptop, agent: qa },
        payload: { repo: 'shop', reason: 'release 2.1' },
      }),
    ).toBe('freeze release -> laptop/qa: release 2.1');
    const freeze = { type: 'freeze' as const, sender: studio, agent: release };
    expect(ackSummary({ agent: qa, messages: [freeze] })).toBe('qa read freeze from studio/release');
    expect(ackSummary({ agent: qa, messages: [freeze, freeze, { ...freeze, sender: laptop }] })).toBe(
      'qa read 3 messages from studio, laptop',
    );
    expect(
      receiptSummary([
        { sender: studio, seq: 42 },
        { sender: laptop, seq: 7 },
      ]),
    ).toBe('studio through 42, laptop through 7');
    expect(expireSummary({ type: 'note', agent: release, sender: studio, to: '*', to_agent: null })).toBe(
      'note release -> *: never acked',
    );
    expect(pruneSummary({ messages: 3, presence: 1, acks: 0 })).toBe('3 messages, 1 presence record');
  });
});
