import { MeshError } from '@git-mesh/core';
import { describe, expect, it } from 'vitest';
import { plainMessage, redact } from './redact.js';

describe('redact', () => {
  // Put together here, so that no scanner takes this file for a leak.
  const fake = (prefix: string): string => prefix + 'a1B2c3D4e5'.repeat(4);
  it.each([
    ["fatal: unable to access 'https://bob:hunter2@host/x.git/'", 'hunter2'],
    ['https://hunter2@host/x', 'hunter2'],
    ['https://bob:p@hunter2@host/x', 'hunter2'],
    ['SSH://bob:hunter2@host', 'hunter2'],
    ['Authorization: Basic aHVudGVyMg==', 'aHVudGVyMg=='],
    ['> authorization: Bearer abc\r\n> host: x', 'abc'],
    ['sent Bearer hunter2hunter2', 'hunter2hunter2'],
    ['Private-Token: hunter2', 'hunter2'],
    ['https://host/x?access_token=hunter2&y=1', 'hunter2'],
    ['{"password": "hunter2"}', 'hunter2'],
    [`key ${fake('ghp_')} refused`, fake('ghp_')],
    [fake('github_pat_'), fake('github_pat_')],
    [fake('glpat-'), fake('glpat-')],
    [fake('xoxb-'), fake('xoxb-')],
    [`jwt ${fake('eyJ')}.${fake('x')}.${fake('y')}`, fake('x')],
  ])('takes the secret out of %j', (text, secret) => {
    expect(redact(text)).not.toContain(secret);
    expect(redact(text)).toContain('***');
  });

  it.each([
    'error: cannot lock ref refs/heads/mesh/studio: is at 0123456789012345678901234567890123456789',
    'fatal: could not read from git@host:path/x.git',
    'https://host/a/path@v2?x=1',
  ])('leaves %j as it is', (text) => {
    expect(redact(text)).toBe(text);
  });

  it('gives one line in which nothing is hidden, of a bounded length', () => {
    expect(redact('one\r\n\ttwo\n\n\u001b[2Jthree\u202e')).toBe('one two \\u001b[2Jthree\\u202e');
    expect(redact('x'.repeat(10_000))).toHaveLength(500);
    expect(redact('abcdef', { maxLength: 4 })).toBe('abc…');
  });

  it('is quick with hostile text', () => {
    const started = performance.now();
    for (const text of ['a://'.repeat(1e6), 'token='.repeat(1e6), 'eyJaaaaaaaa.'.repeat(1e6), ' '.repeat(1e7)])
      redact(text);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});

describe('plainMessage', () => {
  it('says what failed without path or stack', () => {
    const failure = Object.assign(new Error("ENOENT: no such file or directory, open '/home/bob/x'"), {
      code: 'ENOENT',
      syscall: 'open',
    });
    expect(plainMessage(failure)).toBe('ENOENT: no such file or directory');
    expect(plainMessage(new Error('first\n    at somewhere'))).toBe('first');
    expect(plainMessage(new MeshError('locked', 'try https://a:b@c again'))).toBe('try https://***@c again');
    expect(plainMessage('words')).toBe('words');
  });
});
