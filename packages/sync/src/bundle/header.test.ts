import type { Oid, RefName } from '@git-mesh/core';
import { expect, test } from 'vitest';
import { formatHeader, parseHeader } from './header.js';

const a = 'a'.repeat(40) as Oid;
const b = 'b'.repeat(40) as Oid;
const refusal = (text: string): unknown => {
  try {
    return parseHeader(text);
  } catch (error) {
    return error;
  }
};

test('a header that was written is read back, without HEAD, which is no ref of its own', () => {
  const text = Buffer.from(
    formatHeader({
      prerequisites: [{ oid: a, comment: 'refs/heads/mesh/lab' }],
      refs: [
        { ref: 'HEAD', oid: b },
        { ref: 'refs/heads/mesh/lab', oid: b },
      ],
    }),
  ).toString();
  expect(text.startsWith('# v2 git bundle\n')).toBe(true);
  expect(text.endsWith('\n\n')).toBe(true);
  expect(parseHeader(text)).toEqual({
    prerequisites: [{ oid: a, comment: 'refs/heads/mesh/lab' }],
    refs: new Map([['refs/heads/mesh/lab' as RefName, b]]),
  });
});

test('version 3 is read where it names SHA-1, and prerequisites may come without a comment', () => {
  const header = parseHeader(`# v3 git bundle\n@object-format=sha1\n-${a}\n-${b} \n${a} refs/heads/x\n`);
  expect(header.prerequisites).toEqual([
    { oid: a, comment: '' },
    { oid: b, comment: '' },
  ]);
  expect([...header.refs]).toEqual([['refs/heads/x', a]]);
});

test.each([
  ['SHA-256 objects', '@object-format=sha256', /sha256/],
  ['objects that a filter left out', '@filter=blob:none', /filter=blob:none/],
  ['an unknown capability', '@\u001b[31mred', /does not know/],
])('a bundle with %s is refused in words', (_what, line, words) => {
  const error = refusal(`# v3 git bundle\n${line}\n${a} refs/heads/x\n`);
  expect(error).toMatchObject({ errorName: 'invalid_argument', message: words });
  expect(String(error)).not.toContain('\u001b');
});

test.each([
  ['a capability in version 2', '@object-format=sha1'],
  ['an id that is too short', 'abc refs/heads/x'],
  ['a SHA-256 id', `${'a'.repeat(64)} refs/heads/x`],
  ['no name', a],
  ['a ref that is there twice', `${a} refs/heads/x\n${b} refs/heads/x`],
  ['a prerequisite that is none', '-refs/heads/x'],
  ['anything else', 'hello'],
])('a header with %s is malformed', (_what, lines) => {
  expect(refusal(`# v2 git bundle\n${lines}\n`)).toMatchObject({ errorName: 'protocol_error' });
});

test('names that git would refuse hide no other', () => {
  const { refs } = parseHeader(
    `# v2 git bundle\n${a} refs/heads/../../evil\n${a} refs/heads/x.lock\n${a} evil\n${b} refs/heads/ok\n`,
  );
  expect([...refs]).toEqual([['refs/heads/ok', b]]);
});
