import { createHash, createPublicKey, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Handle } from '@git-mesh/core';
import {
  checkAck,
  checkMachine,
  checkMessage,
  checkPresence,
  checkReceipt,
  checkRoster,
  decodeAck,
  decodeCharter,
  decodeCommit,
  decodeInviteCode,
  decodeMachine,
  decodeMessage,
  decodePresence,
  decodeReceipt,
  decodeRoster,
  encodeAck,
  encodeCharter,
  encodeCommit,
  encodeInviteCode,
  encodeMachine,
  encodeMessage,
  encodePresence,
  encodeReceipt,
  encodeRoster,
  eventNames,
  formatCommitMessage,
  inviteProof,
  inviteProofText,
  isHandle,
  maxFileBytes,
  maxPayloadBytes,
  messagePath,
  messageTypes,
  parseCommitMessage,
  parsePath,
} from '@git-mesh/core';
import { describe, expect, it } from 'vitest';

const page = readFileSync(new URL('../../docs/format.md', import.meta.url), 'utf8').replaceAll('\r\n', '\n');

interface Example {
  /** What stands after the fence: the language and what kind of example it is. */
  info: string;
  body: string;
}
const examples: Example[] = Array.from(page.matchAll(/^```(\S+ \S.*)\n([^]*?)^```$/gm), (match) => ({
  info: match[1] ?? '',
  body: match[2] ?? '',
}));
const files = examples.flatMap(({ info, body }) => {
  const match = /^yaml file=(\S+) branch=(\S+)$/.exec(info);
  return match === null ? [] : [{ path: match[1] ?? '', branch: match[2] ?? '', body }];
});
const commits = examples.filter(({ info }) => info === 'text commit');
const messages = examples.filter(({ info }) => info === 'text message');

/** The tree, what a key signs to hand over, the two layouts of signatures and a bundle's header: no files. */
const plainBlocks = 5;

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (data: Uint8Array): string => new TextDecoder().decode(data);

/** Decodes a file as what its path says it is; gives it encoded again, and why it may not stand there. */
function throughCodec(path: string, branch: Handle, data: Uint8Array): { again: Uint8Array; misplaced: string | null } {
  const place = parsePath(path);
  switch (place?.kind) {
    case 'machine': {
      const record = decodeMachine(data);
      return { again: encodeMachine(record), misplaced: checkMachine(record, { path, branch }) };
    }
    case 'presence': {
      const record = decodePresence(data);
      return { again: encodePresence(record), misplaced: checkPresence(record, { path }) };
    }
    case 'message': {
      const record = decodeMessage(data);
      expect(path).toBe(messagePath({ to: record.to.machine, id: record.id }));
      return { again: encodeMessage(record), misplaced: checkMessage(record, { path, branch }) };
    }
    case 'ack': {
      const record = decodeAck(data);
      return { again: encodeAck(record), misplaced: checkAck(record, { path }) };
    }
    case 'receipt': {
      const record = decodeReceipt(data);
      return { again: encodeReceipt(record), misplaced: checkReceipt(record, { path, branch }) };
    }
    case 'roster': {
      const record = decodeRoster(data);
      return { again: encodeRoster(record), misplaced: checkRoster(record, { path }) };
    }
    case undefined:
      throw new Error(`docs/format.md has an example at ${path}, which is no path of the layout`);
  }
}

describe('docs/format.md', () => {
  it('has an example of every kind of file, and no example that is not checked', () => {
    const kinds = new Set(files.map(({ path }) => (path === 'mesh.yaml' ? 'charter' : parsePath(path)?.kind)));
    expect(kinds).toEqual(new Set(['charter', 'machine', 'presence', 'message', 'ack', 'receipt', 'roster']));
    expect(files.length + commits.length + messages.length).toBe(examples.length);
    expect(page.match(/^```/gm)?.length).toBe(2 * (examples.length + plainBlocks));
    expect(messages.length).toBeGreaterThanOrEqual(3);
    expect(commits.length).toBeGreaterThanOrEqual(1);
  });
  it('shows an invitation, and the proof that its secret gives', () => {
    const json = /^`(\{"v":1,.*\})`$/m.exec(page)?.[1] ?? '';
    const { secret, ...code } = decodeInviteCode(`mesh1.${Buffer.from(json).toString('base64url')}`);
    expect(Buffer.from(encodeInviteCode({ ...code, secret }).slice(6), 'base64url').toString()).toBe(json);
    const joined = files.filter(({ body }) => body.includes('\ninvite:')).map(({ body }) => decodeMachine(bytes(body)));
    expect(joined).toHaveLength(1);
    for (const record of joined) {
      expect(record.invite).toEqual({ by: code.by, id: code.id, proof: inviteProof(secret, inviteProofText(record)) });
    }
  });
  it.each(files)('shows $path of $branch byte for byte', ({ path, branch, body }) => {
    if (branch === '_charter') {
      expect(text(encodeCharter(decodeCharter(bytes(body))))).toBe(body);
      return;
    }
    if (!isHandle(branch)) throw new Error(`${branch} is no handle`);
    const { again, misplaced } = throughCodec(path, branch, bytes(body));
    expect(text(again)).toBe(body);
    expect(misplaced).toBeNull();
  });

  it('shows a machine whose keys were each signed in as the page says', () => {
    const desk = files.find(({ path, branch }) => path === 'machine.yaml' && branch === 'desk');
    const { key, mesh, handle, previous = [] } = decodeMachine(bytes(desk?.body ?? ''));
    expect(previous.length).toBe(1);
    for (const { key: from, signature } of previous) {
      const signed = `git-mesh rotate-key\n${mesh}\n${handle}\n${from}\n${key}\n`;
      expect(verify(null, bytes(signed), publicKeyOf(from), Buffer.from(signature, 'base64'))).toBe(true);
    }
  });

  it.each(messages)('shows a commit message byte for byte: $body', ({ body }) => {
    const parsed = parseCommitMessage(body);
    if (parsed === null) throw new Error('it is not read as a commit of the mesh');
    const { subject, ...event } = parsed;
    const summary = subject.slice(event.event.length + 1);
    expect(formatCommitMessage({ ...event, summary })).toBe(body);
  });

  it.each(commits)('shows a commit byte for byte, signed with the key of machine.yaml', ({ body }) => {
    const commit = decodeCommit(bytes(body));
    expect(text(encodeCommit(commit))).toBe(body);
    expect(parseCommitMessage(commit.message)).toMatchObject({ event: 'send', seq: 12, journal: 31 });

    const machine = files.find(({ path, branch }) => path === 'machine.yaml' && branch === 'studio');
    const key = decodeMachine(bytes(machine?.body ?? '')).key;
    const keyBlob = Buffer.from(key.split(' ')[1] ?? '', 'base64');
    const armour = (commit.gpgsig ?? '').split('\n');
    const blob = Buffer.from(armour.slice(1, -1).join(''), 'base64');
    const digest = createHash('sha512').update(commit.signedBytes).digest();
    const signature = blob.subarray(-64);
    // Each part as the page says.
    const fixed = [sshString('git'), sshString(''), sshString('sha512')];
    const inner = Buffer.concat([sshString('ssh-ed25519'), sshString(signature)]);
    const version = Buffer.from([0, 0, 0, 1]);
    expect(blob).toEqual(
      Buffer.concat([Buffer.from('SSHSIG'), version, sshString(keyBlob), ...fixed, sshString(inner)]),
    );
    const publicKey = publicKeyOf(key);
    const signed = Buffer.concat([Buffer.from('SSHSIG'), ...fixed, sshString(digest)]);
    expect(verify(null, signed, publicKey, signature)).toBe(true);

    const receipt = files.find(({ path }) => path === 'receipts/studio.yaml');
    const fingerprint = createHash('sha256').update(keyBlob).digest('base64').replace(/=+$/, '');
    expect(decodeReceipt(bytes(receipt?.body ?? '')).key).toBe(`SHA256:${fingerprint}`);
  });

  it('names every type of message, every event and the limits that the code has', () => {
    for (const type of messageTypes) expect(page).toContain(`\`${type}\``);
    for (const event of eventNames) expect(page).toContain(`\`${event}\``);
    for (const limit of [maxFileBytes, maxPayloadBytes])
      expect(page).toContain(`**${limit.toLocaleString('en-US')} bytes**`);
  });
});

function publicKeyOf(line: string): KeyObject {
  const blob = Buffer.from(line.split(' ')[1] ?? '', 'base64');
  return createPublicKey({
    format: 'jwk',
    key: { kty: 'OKP', crv: 'Ed25519', x: blob.subarray(-32).toString('base64url') },
  });
}

function sshString(value: string | Uint8Array): Buffer {
  const body = Buffer.from(value);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  return Buffer.concat([length, body]);
}
