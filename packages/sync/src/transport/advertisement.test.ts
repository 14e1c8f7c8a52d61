import { describe, expect, it } from 'vitest';
import { readAdvertisement } from './advertisement.js';
import { expectError } from './contract.suite.js';
import { encodePacket, flushPacket, PacketReader } from './pkt-line.js';
import type { Advertisement } from './port.js';

const a = 'a'.repeat(40);
const b = 'b'.repeat(40);
const zero = '0'.repeat(40);

async function* lines(texts: readonly string[]): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(Buffer.concat([...texts.map((text) => encodePacket(text)), flushPacket]));
}
const read = (...texts: string[]): Promise<Advertisement> => readAdvertisement(new PacketReader(lines(texts)));

describe('readAdvertisement', () => {
  it('takes refs, capabilities and the target of HEAD', async () => {
    const found = await read(
      `${a} HEAD\0multi_ack side-band-64k symref=HEAD:refs/heads/main agent=git/2\n`,
      `${a} refs/heads/main\n`,
      `${b} refs/tags/v1\n`,
      `${a} refs/tags/v1^{}\n`,
    );
    expect([...found.refs]).toEqual([
      ['refs/heads/main', a],
      ['refs/tags/v1', b],
    ]);
    expect(found.head).toBe('refs/heads/main');
    expect(found.capabilities.has('side-band-64k')).toBe(true);
  });

  it('finds nothing in an empty one, with its capabilities', async () => {
    const found = await read(`${zero} capabilities^{}\0report-status object-format=sha1`);
    expect(found.refs.size).toBe(0);
    expect(found.capabilities.has('report-status')).toBe(true);
  });

  it("takes version 1's line before the refs, once", async () => {
    expect((await read('version 1', `${a} refs/heads/x\0ofs-delta`)).capabilities.has('ofs-delta')).toBe(true);
    await expectError('protocol_error', () => read('version 1', 'version 1'));
    await expectError('protocol_error', () => read('version 2', 'ls-refs'));
  });

  it('leaves out names that git would refuse, and keeps the others', async () => {
    const odd = [
      'refs/heads/../x',
      'refs/heads/a b',
      'refs/heads/.x',
      'refs/heads/x.lock',
      'refs/heads/\u001b[2J',
      'FETCH_HEAD',
    ];
    const more = [
      '.have',
      'refs/heads/a/',
      'refs/heads/a//b',
      'refs/heads/a@{1}',
      'refs/heads/a\\b',
      'refs/heads/\ufffd',
    ];
    const found = await read(...[...odd, ...more, 'refs/heads/good'].map((name) => `${a} ${name}\n`));
    expect([...found.refs.keys()]).toEqual(['refs/heads/good']);
  });

  it.each([
    ['protocol_error', 'ERR access denied'],
    ['protocol_error', 'version 2'],
    ['protocol_error', `${a.slice(1)} refs/heads/x`],
    ['protocol_error', a],
    ['protocol_error', ''],
    ['not_a_repository', `shallow ${a}`],
    ['not_a_repository', `${'0'.repeat(64)} capabilities^{}\0object-format=sha256`],
  ] as const)('answers %s to %j', async (name, line) => {
    await expectError(name, () => read(line));
  });

  it('refuses a ref that is listed twice, and more than a mesh could have', async () => {
    await expectError('protocol_error', () => read(`${a} refs/heads/x`, `${b} refs/heads/x`));
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (let n = 0; ; n += 1) yield await Promise.resolve(encodePacket(`${a} refs/heads/${n}${'x'.repeat(60_000)}`));
    }
    await expectError('protocol_error', () => readAdvertisement(new PacketReader(endless())));
  });
});
