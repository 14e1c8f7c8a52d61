import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Oid, RefName } from '@git-mesh/core';
import { GitFixture } from '../testing/git-fixture.js';
import { expectError } from './contract.suite.js';
import { fetchPack } from './fetch.js';
import { localTransport } from './local.js';
import { encodePacket } from './pkt-line.js';
import type { Exchange } from './port.js';

const main = 'refs/heads/main' as RefName;
const { signal } = new AbortController();
const ascii = (text: string): Buffer => Buffer.from(text, 'latin1');

describe('fetchPack', () => {
  let fixture: GitFixture;
  let remote: string;
  let tip: Oid;
  beforeAll(() => {
    fixture = new GitFixture();
    remote = fixture.bare('remote.git');
    // Incompressible, so that the pack spans several packets.
    tip = fixture.commit(remote, randomBytes(150_000).toString('base64'));
    fixture.setRef(remote, main, tip);
  });
  afterAll(() => {
    fixture.remove();
  });

  const open = (): Promise<Exchange> =>
    localTransport({ path: remote, env: fixture.env }).open('git-upload-pack', { signal });
  const options = () => ({ wants: [tip], haves: [], signal, maxBytes: 1 << 24 });

  /** A real exchange whose real answer is changed on its way. */
  async function tampered(change: (answer: Buffer) => Buffer, failure?: Error): Promise<Exchange> {
    const real = await open();
    return {
      advertised: real.advertised,
      close: () => real.close(),
      async *post(body) {
        const chunks: Uint8Array[] = [];
        for await (const chunk of real.post(body)) chunks.push(chunk);
        yield change(Buffer.concat(chunks));
        if (failure !== undefined) throw failure;
      },
    };
  }

  it('takes the answer when nothing is done to it', async () => {
    const pack = await fetchPack(await tampered((answer) => answer), options());
    expect(Buffer.from(pack).readUInt32BE(8)).toBe(3);
  });

  // The answer begins "0008NAK\n", then packets of the side band.
  const bad: [string, (answer: Buffer) => Buffer][] = [
    ['an empty one', () => ascii('')],
    ['one cut right after the acknowledgement', (answer) => answer.subarray(0, 8)],
    [
      'one cut between two packets',
      (answer) => answer.subarray(0, 8 + Number.parseInt(answer.toString('latin1', 8, 12), 16)),
    ],
    ['one cut inside a packet', (answer) => answer.subarray(0, 40_000)],
    ['one cut inside a length', (answer) => answer.subarray(0, 10)],
    ['one without its closing flush', (answer) => answer.subarray(0, -4)],
    ['one with a flipped bit in the pack', (answer) => flip(answer, 50_000)],
    ['one with a flipped bit in the checksum', (answer) => flip(answer, answer.length - 6)],
    ['one with a flipped bit in a length', (answer) => flip(answer, 8)],
    ['an error in place of an answer', () => Buffer.from(encodePacket('ERR upload-pack: not our ref'))],
    ['an error in band 3', (answer) => Buffer.concat([answer.subarray(0, 8), encodePacket('\u0003disk on fire')])],
    [
      'an error in band 3 in the middle of the pack',
      (answer) =>
        Buffer.concat([
          answer.subarray(0, 8 + Number.parseInt(answer.toString('latin1', 8, 12), 16)),
          encodePacket('\u0003disk on fire'),
        ]),
    ],
    ['a flush at once, without a pack', () => ascii('0008NAK\n0000')],
    [
      'a band that does not exist',
      () => Buffer.concat([ascii('0008NAK\n'), encodePacket('\u0007what'), ascii('0000')]),
    ],
    ['something after the end', (answer) => Buffer.concat([answer, encodePacket('more')])],
    ['raw bytes after the end', (answer) => Buffer.concat([answer, ascii('x')])],
    ['no acknowledgement', (answer) => answer.subarray(8)],
    ['a page of HTML', () => ascii('<html><title>Sign in</title></html>')],
    ['packets of another protocol version', () => ascii('0001')],
  ];

  it.each(bad)('refuses %s', async (_what, change) => {
    await expectError('protocol_error', async () => fetchPack(await tampered(change), options()));
  });

  it('takes an answer that comes byte by byte, and in packets of one byte', async () => {
    const whole = Buffer.from(await fetchPack(await tampered((answer) => answer), options()));
    const packets = [...whole].map((byte) => encodePacket(Buffer.of(1, byte)));
    const tiny = Buffer.concat([ascii('0008NAK\n'), ...packets, ascii('0000')]);
    expect(whole.equals(await fetchPack(await tampered(() => tiny), options()))).toBe(true);
    const real = await open();
    const exchange: Exchange = {
      advertised: real.advertised,
      close: () => real.close(),
      async *post(body) {
        for await (const chunk of real.post(body)) for (const byte of chunk) yield Buffer.of(byte);
      },
    };
    // Work for each byte anew would take minutes, and the test's time would be over.
    expect(whole.equals(await fetchPack(exchange, options()))).toBe(true);
  });

  it("passes the server's words on, and nothing that a terminal would act on", async () => {
    const said = () => Buffer.concat([ascii('0008NAK\n'), encodePacket('\u0003disk \u001b[31mon fire')]);
    const { message } = await expectError('protocol_error', async () => fetchPack(await tampered(said), options()));
    expect(message).toContain('disk \\u001b[31mon fire');
  });

  it('does not hide that the connection was reset', async () => {
    const exchange = await tampered((answer) => answer.subarray(0, 50_000), new Error('read ECONNRESET'));
    await expect(fetchPack(exchange, options())).rejects.toThrow('read ECONNRESET');
  });

  it('refuses an object that the remote does not offer', async () => {
    const wants = ['0123456789012345678901234567890123456789' as Oid];
    const { message } = await expectError('protocol_error', async () =>
      fetchPack(await open(), { ...options(), wants }),
    );
    expect(message).toContain('not our ref');
  });

  it('gives up in the middle of an answer when its own time is over', async () => {
    const abort = new AbortController();
    const real = await open();
    const exchange: Exchange = {
      advertised: real.advertised,
      close: () => real.close(),
      async *post(body) {
        for await (const chunk of real.post(body)) {
          yield chunk.subarray(0, 100);
          abort.abort();
        }
      },
    };
    await expectError('deadline', () => fetchPack(exchange, { ...options(), signal: abort.signal }));
  });
});

function flip(answer: Buffer, at: number): Buffer {
  const copy = Buffer.from(answer);
  copy[at] = (copy[at] ?? 0) ^ 0x10;
  return copy;
}
