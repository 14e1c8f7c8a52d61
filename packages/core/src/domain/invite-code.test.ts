import { describe, expect, it } from 'vitest';
import { MeshError } from '../errors.js';
import type { Handle, Oid, Ulid } from './ids.js';
import { decodeInviteCode, encodeInviteCode, inviteProofText, requireUnexpired } from './invite-code.js';
import type { InviteCode } from './invite-code.js';
import { withoutInviteCodes } from './invite-mask.js';
import { isInviteCode, mayBeInviteCode } from './invite-shape.js';

const secret = `${'Zx'.repeat(21)}c`;
const sample: InviteCode = {
  url: '/srv/git/team-ñ.git',
  mesh: '01M8RDA4M0KC773BNQD5BAEVKQ' as Ulid,
  charter: '0f1e2d3c4b5a69788796a5b4c3d2e1f001122334' as Oid,
  name: 'team “ñ”',
  by: 'studio' as Handle,
  key: `SHA256:${'a'.repeat(43)}`,
  id: 'AAAABBBBCCCCDDDD',
  secret,
  expires: '2026-12-02T10:15:00.000Z',
};
const body = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function failure(act: () => unknown): MeshError {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(MeshError);
    return error as MeshError;
  }
  throw new Error('nothing was thrown');
}

describe('the code of an invitation', () => {
  it('comes back as it was made, and is one word', () => {
    const code = encodeInviteCode(sample);
    expect(code).toMatch(/^mesh1\.eyJ2IjoxLCJ[A-Za-z0-9_-]+$/);
    expect(decodeInviteCode(code)).toEqual(sample);
    expect(isInviteCode(code)).toBe(true);
  });

  it('is read though it was broken into lines', () => {
    const code = encodeInviteCode(sample);
    expect(decodeInviteCode(` ${code.slice(0, 70)}\n  ${code.slice(70)}\r\n`)).toEqual(sample);
  });

  it.each([
    ['the line of git mesh invite', (code: string) => `git-mesh join ${code}`],
    ['a line with a prompt and quotes', (code: string) => `$ git mesh join "${code}"`],
    ['a sentence', (code: string) => `Use (${code}).`],
    [
      'all that git mesh invite prints',
      (code: string) => `An invitation:\n\n  git-mesh join ${code}\n\nGive it to no one.`,
    ],
    [
      'an answer that marked each line',
      (code: string) => `> git-mesh join\n> ${code.slice(0, 70)}\n> >${code.slice(70)}\n>\n> Bye`,
    ],
    ['a letter that broke it', (code: string) => `> git-mesh join\n${code.slice(0, 70)}\n${code.slice(70)}\n\nBye`],
  ])('is found in %s', (_what, around) => {
    const pasted = around(encodeInviteCode(sample));
    expect(isInviteCode(pasted)).toBe(true);
    expect(decodeInviteCode(pasted)).toEqual(sample);
  });

  it('passes over nothing that was meant to do something', () => {
    const error = failure(() => decodeInviteCode(`git-mesh join ${encodeInviteCode(sample)} --machine laptop`));
    expect(error.message).toContain('Give the code alone');
  });

  it.each([
    ['a later version', 'mesh2.eyJ2Ijoy', 'format_too_new', 'update git-mesh'],
    ['version 0', encodeInviteCode(sample).replace('mesh1', 'mesh0'), 'invalid_argument', 'version'],
    ['another base64', `mesh1.${body(sample)}+/==`, 'invalid_argument', 'base64url'],
    ['base64url with stray bits', 'mesh1.eyJ9', 'invalid_argument', 'no JSON'],
    ['a code that was cut off', encodeInviteCode(sample).slice(0, 70), 'invalid_argument', 'no JSON'],
    ['a list', `mesh1.${body([sample])}`, 'invalid_argument', 'JSON object'],
    [
      'a field too many',
      `mesh1.${body({ v: 1, ...sample, [secret]: 1 })}`,
      'invalid_argument',
      'a field that none has',
    ],
    ['no v', `mesh1.${body(sample)}`, 'invalid_argument', 'field v'],
    ['no url', `mesh1.${body({ v: 1, ...sample, url: undefined })}`, 'invalid_argument', 'url is missing'],
    ['an option as url', `mesh1.${body({ v: 1, ...sample, url: '--upload-pack=x' })}`, 'invalid_argument', 'field url'],
    [
      'a short secret',
      `mesh1.${body({ v: 1, ...sample, secret: secret.slice(1) })}`,
      'invalid_argument',
      'field secret',
    ],
    ['a number as id', `mesh1.${body({ v: 1, ...sample, id: 7 })}`, 'invalid_argument', 'field id'],
    [
      '__proto__',
      `mesh1.${Buffer.from('{"v":1,"__proto__":{}}').toString('base64url')}`,
      'invalid_argument',
      'a field',
    ],
    ['something long', `mesh1.${'eyJ'.repeat(4_000)}`, 'invalid_argument', 'longer than'],
  ])('is refused with %s, without a word of it', (_what, code, errorName, why) => {
    const error = failure(() => decodeInviteCode(code));
    expect(error.errorName).toBe(errorName);
    expect(error.message).toContain(why);
    expect(error.cause).toBeUndefined();
    for (const part of [secret, code.slice(6)]) expect(JSON.stringify([error.message, error.data])).not.toContain(part);
  });

  it('is told from a path and a URL, and a damaged one is still one', () => {
    for (const other of [
      'mesh1.git',
      './mesh1.bundle',
      '/srv/mesh1.eyJ',
      'mesh1.example.com:team.git',
      'https://mesh1.eyJ.example/x',
    ])
      expect(isInviteCode(other)).toBe(false);
    for (const code of ['mesh1.eyJ', '"mesh1.eyJ2/x', ' mesh9.eyJ2', `mesh1.${'x'.repeat(70)}`]) {
      expect(isInviteCode(code)).toBe(true);
      expect(mayBeInviteCode(code)).toBe(true);
    }
    for (const typed of ['mesh1.', 'mesh1.\n', ' MESH1.EYJ2', 'mesh1. eyJ2', 'mesh1.abc', '<mesh1.eyJ2>', 'mesh1.…']) {
      expect(isInviteCode(typed)).toBe(true);
      expect(() => decodeInviteCode(typed)).toThrow(/no invitation that can be read/);
    }
  });

  it('is taken out of any text', () => {
    const text = withoutInviteCodes(`unknown command '${encodeInviteCode(sample)}' (mesh1.git)`);
    expect(text).toBe("unknown command 'mesh1.***' (mesh1.git)");
    const headless = encodeInviteCode(sample).slice('mesh1.'.length);
    expect(withoutInviteCodes(`"${headless}" is no handle`)).toBe('"***" is no handle');
  });

  it('is in no error, whoever quoted it', () => {
    const code = encodeInviteCode(sample);
    const { message, data, stack } = new MeshError('not_found', `No ${code}`, { data: { handle: [code], at: 1 } });
    expect(message).toBe('No mesh1.***');
    expect(data).toEqual({ handle: ['mesh1.***'], at: 1 });
    expect(stack).not.toContain(code);
  });

  it('ends at its time, to the millisecond', () => {
    const end = Date.parse(sample.expires);
    expect(() => {
      requireUnexpired(sample, end - 1);
    }).not.toThrow();
    const error = failure(() => {
      requireUnexpired(sample, end);
    });
    expect(error.errorName).toBe('forbidden');
    expect(error.message).toContain('ended at 2026-12-02T10:15:00.000Z');
  });
});

it('a proof is of the mesh, the handle and the key, each on a line', () => {
  expect(inviteProofText({ mesh: sample.mesh, handle: 'laptop' as Handle, key: 'ssh-ed25519 AAAA' })).toBe(
    'git-mesh invite\n01M8RDA4M0KC773BNQD5BAEVKQ\nlaptop\nssh-ed25519 AAAA\n',
  );
});
