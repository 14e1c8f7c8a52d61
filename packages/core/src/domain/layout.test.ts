import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MeshError } from '../errors.js';
import type { Addressee, AgentKey, Handle, Ulid } from './ids.js';
import { agentKey, isAgentId, isAgentKey, isHandle, parseAgentId, parseHandle } from './ids.js';
import {
  ackPath,
  branchRef,
  charterRef,
  checkAck,
  checkMessage,
  checkPresence,
  checkReceipt,
  checkRoster,
  handleOfRef,
  isMeshFolder,
  messagePath,
  parsePath,
  parseRefPrefix,
  presencePath,
  receiptPath,
  remoteRef,
  rosterPath,
} from './layout.js';
import type { MessageRecord, PresenceRecord, RosterRecord } from './records.js';
import { nextUlid } from './ulid.js';

const studio = parseHandle('studio');
const laptop = parseHandle('laptop');
const id = '01KBEST0000000000000000001' as Ulid;
const other = '01KBEST0000000000000000002' as Ulid;

const handle = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/).filter((s): s is Handle => isHandle(s));
const agent = fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,63}$/).filter((s): s is AgentKey => isAgentKey(s));
const addressee: fc.Arbitrary<Addressee> = fc.oneof(handle, fc.constant<Addressee>('*'));
const ulid = fc
  .tuple(fc.integer({ min: 0, max: 253_402_300_799_999 }), fc.uint8Array({ minLength: 16, maxLength: 16 }))
  .map(([now, bytes]) => nextUlid({ now, random: () => bytes, last: null }));

describe('paths', () => {
  it('are read back as what they were made from', () => {
    fc.assert(
      fc.property(handle, agent, addressee, ulid, (sender, key, to, name) => {
        expect(parsePath(presencePath(key))).toEqual({ kind: 'presence', agent: key });
        expect(parsePath(messagePath({ to, id: name }))).toEqual({ kind: 'message', to, id: name });
        expect(parsePath(ackPath(sender, name))).toEqual({ kind: 'ack', sender, id: name });
        expect(parsePath(receiptPath(sender))).toEqual({ kind: 'receipt', sender });
        expect(parsePath(rosterPath(sender))).toEqual({ kind: 'roster', handle: sender });
        for (const path of [presencePath(key), messagePath({ to, id: name }), ackPath(sender, name)]) {
          const parts = path.split('/').slice(0, -1);
          for (let i = 0; i <= parts.length; i++) expect(isMeshFolder(parts.slice(0, i).join('/'))).toBe(true);
        }
      }),
    );
  });

  it('put a message where its ULID and addressee say', () => {
    expect(messagePath({ to: '*', id })).toMatch(
      /^messages\/_all\/2025-12-0\d\/\d{4}\/01KBEST0000000000000000001\.yaml$/,
    );
    const made = nextUlid({ now: Date.UTC(2026, 11, 2, 5, 7, 59, 999), random: (n) => new Uint8Array(n), last: null });
    expect(messagePath({ to: laptop, id: made })).toBe(`messages/laptop/2026-12-02/0507/${made}.yaml`);
  });

  it.each([
    '',
    'README.md',
    'machine.yml',
    'machine.yaml/x.yaml',
    'presence/Builder.yaml',
    'presence/.git.yaml',
    'presence/__proto__.yaml',
    'presence/con.yaml',
    'presence/a/b.yaml',
    'presence/a.yaml\n',
    'presence//a.yaml',
    `messages/laptop/2026-12-02/0000/${'x'.repeat(200)}.yaml`,
    `messages/Laptop/2026-12-02/0000/${id}.yaml`,
    `messages/*/2026-12-02/0000/${id}.yaml`,
    `messages/laptop/2026-02-30/0000/${id}.yaml`,
    `messages/laptop/2026-12-02/2400/${id}.yaml`,
    `messages/laptop/2026-12-02/0060/${id}.yaml`,
    `messages/laptop/2026-12-02/${id}.yaml`,
    `messages/laptop/2026-12-02/0000/${id.toLowerCase()}.yaml`,
    `messages/laptop/2026-12-02/0000/${id}.yml`,
    `acks/_all/${id}.yaml`,
    `acks/${id}.yaml`,
    'receipts/_all.yaml',
    'receipts/con.yaml',
    'roster/a\\b.yaml',
    'other/a.yaml',
  ])('give null for %j', (path) => {
    expect(parsePath(path)).toBeNull();
  });

  it.each([
    'x',
    'messages/_al',
    'messages/laptop/x',
    'messages/laptop/2026-12-02/9999',
    `messages/laptop/2026-12-02/0000/${id}`,
    'presence/a',
    'acks/a/b',
    'constructor',
  ])('have no folder %s', (path) => {
    expect(isMeshFolder(path)).toBe(false);
  });
});

describe('a file is believed only where it may stand', () => {
  const message: MessageRecord = {
    id,
    type: 'note',
    from: { machine: studio },
    to: { machine: laptop },
    sent_at: '2026-12-02T05:00:00.000Z',
    expires_at: '2026-12-03T05:00:00.000Z',
    payload: {},
  };
  const path = messagePath({ to: laptop, id });

  it('which for a message is its own path on its sender’s branch', () => {
    expect(checkMessage(message, { path, branch: studio })).toBeNull();
    expect(
      checkMessage({ ...message, to: { machine: '*' } }, { path: messagePath({ to: '*', id }), branch: studio }),
    ).toBeNull();
    expect(checkMessage(message, { path, branch: laptop })).toContain(
      "from.machine is studio, but the branch is laptop's",
    );
    expect(checkMessage({ ...message, id: other }, { path, branch: studio })).toContain(other);
    expect(checkMessage({ ...message, to: { machine: '*' } }, { path, branch: studio })).toContain('addressed to *');
    expect(checkMessage(message, { path: `messages/${id}.yaml`, branch: studio })).toContain(
      'not where a message belongs',
    );
    expect(checkMessage(message, { path: ackPath(studio, id), branch: studio })).toContain('not where');
  });

  it('which for the other records is the path they name', () => {
    expect(checkAck({ id, acks: [] }, { path: ackPath(studio, id) })).toBeNull();
    expect(checkAck({ id: other, acks: [] }, { path: ackPath(studio, id) })).toContain(other);
    const presence = { agent: parseAgentId('Builder') } as PresenceRecord;
    expect(checkPresence(presence, { path: 'presence/builder.yaml' })).toBeNull();
    expect(checkPresence(presence, { path: 'presence/qa.yaml' })).toContain('Builder');
    const receipt = { delivered_through: { seq: 1, commit: 'a'.repeat(40) }, at: '', key: '' } as never;
    expect(checkReceipt(receipt, { path: 'receipts/studio.yaml', branch: laptop })).toBeNull();
    expect(checkReceipt(receipt, { path: 'receipts/studio.yaml', branch: studio })).toContain('itself');
    const roster = { handle: studio } as RosterRecord;
    expect(checkRoster(roster, { path: 'roster/studio.yaml' })).toBeNull();
    expect(checkRoster(roster, { path: 'roster/laptop.yaml' })).toContain('about studio');
    expect(isAgentId(agentKey(presence.agent))).toBe(true);
  });
});

describe('refs', () => {
  const prefix = 'refs/heads/mesh/';
  it('name machines by the prefix and the handle', () => {
    expect(branchRef(prefix, studio)).toBe('refs/heads/mesh/studio');
    expect(charterRef(prefix)).toBe('refs/heads/mesh/_charter');
    expect(handleOfRef(prefix, 'refs/heads/mesh/studio')).toBe('studio');
    for (const ref of [
      'refs/heads/mesh/_charter',
      'refs/heads/mesh/a/b',
      'refs/heads/mesh/.x',
      'refs/heads/mesh/',
      'refs/heads/main',
      'refs/heads/meshstudio',
      'refs/heads/mesh/con',
    ])
      expect(handleOfRef(prefix, ref)).toBeNull();
    expect(remoteRef('origin', prefix, studio)).toBe('refs/remotes/origin/mesh/studio');
    expect(remoteRef('origin', 'refs/mesh/', '_charter')).toBe('refs/remotes/origin/mesh/_charter');
  });
  it.each(['refs/heads/mesh/', 'refs/mesh/', 'refs/heads/team_a/mesh-1.0/'])('take the prefix %s', (text) => {
    expect(parseRefPrefix(text)).toBe(text);
  });
  it.each([
    '',
    'mesh/',
    'refs/',
    'refs/heads/',
    'refs/heads/mesh',
    '/refs/mesh/',
    'refs//mesh/',
    'refs/heads/-x/',
    'refs/heads/a..b/',
    'refs/heads/a.lock/',
    'refs/heads/a b/',
    'refs/heads/a*/',
    'refs/heads/@{1}/',
    'refs/remotes/x/',
    'refs/heads/x./',
  ])('refuse the prefix %j', (text) => {
    expect(() => parseRefPrefix(text)).toThrow(MeshError);
  });
});
