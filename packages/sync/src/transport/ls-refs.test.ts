import { expect, test } from 'vitest';
import { lsRefsRequest, readLsRefs, speaksLsRefs } from './ls-refs.js';
import { encodePacket, flushPacket, PacketReader } from './pkt-line.js';

async function* chunks(...parts: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield await Promise.resolve(typeof part === 'string' ? encodePacket(part) : part);
}
const reader = (...parts: (string | Uint8Array)[]): PacketReader => new PacketReader(chunks(...parts));
const oid = 'a'.repeat(40);
const service = ['# service=git-upload-pack\n', flushPacket];

test('a request is for one prefix and nothing else', () => {
  const text = Buffer.from(lsRefsRequest('refs/heads/mesh/')).toString();
  expect(text).toBe('0014command=ls-refs\n00010020ref-prefix refs/heads/mesh/\n0000');
});

test.each([
  ['version 2 with ls-refs', ['version 2\n', 'agent=git/2.39\n', 'ls-refs=unborn\n', flushPacket], true],
  ['version 2 behind the line of the service', [...service, 'version 2\n', 'ls-refs\n', flushPacket], true],
  ['version 2 with SHA-1 named', ['version 2\n', 'ls-refs\n', 'object-format=sha1\n', flushPacket], true],
  ['version 2 without ls-refs', ['version 2\n', 'fetch=shallow\n', flushPacket], false],
  ['version 2 with SHA-256', ['version 2\n', 'ls-refs\n', 'object-format=sha256\n', flushPacket], false],
  ['version 1', [...service, 'version 1\n', flushPacket], false],
  ['version 0', [...service, `${oid} HEAD\0side-band-64k\n`, flushPacket], false],
])('%s is told', async (_what, parts, speaks) => {
  expect(await speaksLsRefs(reader(...parts))).toBe(speaks);
});

test('refs are read to the flush, those beside the prefix are left out', async () => {
  const refs = await readLsRefs(
    reader(`${oid} refs/heads/mesh/a\n`, `${oid} refs/heads/x\n`, flushPacket),
    'refs/heads/mesh/',
  );
  expect([...refs]).toEqual([['refs/heads/mesh/a', oid]]);
  expect((await readLsRefs(reader(flushPacket), 'refs/heads/mesh/')).size).toBe(0);
});

test.each([
  ['cut', [`${oid} refs/heads/mesh/a\n`]],
  ['an error', ['ERR upload-pack: no\n', flushPacket]],
  ['no form', ['hello\n', flushPacket]],
  ['twice', [`${oid} refs/heads/mesh/a\n`, `${oid} refs/heads/mesh/a\n`, flushPacket]],
])('an answer that is %s is refused', async (_what, parts) => {
  await expect(readLsRefs(reader(...parts), 'refs/heads/mesh/')).rejects.toMatchObject({ errorName: 'protocol_error' });
});

test('an advertisement that is cut is refused', async () => {
  await expect(speaksLsRefs(reader('version 2\n', 'ls-refs\n'))).rejects.toMatchObject({ errorName: 'protocol_error' });
});
