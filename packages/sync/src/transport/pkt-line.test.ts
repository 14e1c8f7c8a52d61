import { MeshError } from '@git-mesh/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Packet } from './pkt-line.js';
import { encodePacket, flushPacket, maxPacketData, PacketReader, packetText } from './pkt-line.js';

async function* cutAt(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  let from = 0;
  for (const to of [...cuts].sort((a, b) => a - b)) {
    yield await Promise.resolve(bytes.subarray(from, to));
    from = Math.max(from, to);
  }
  yield bytes.subarray(from);
}

async function readAll(reader: PacketReader): Promise<Packet[]> {
  const packets: Packet[] = [];
  for (let packet = await reader.next(); packet !== null; packet = await reader.next()) packets.push(packet);
  return packets;
}

const latin = (text: string): Uint8Array => Buffer.from(text, 'latin1');

describe('PacketReader', () => {
  it('reads back what was written, wherever the stream is cut', async () => {
    const content = fc.array(fc.option(fc.uint8Array({ maxLength: 300 })), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(content, fc.array(fc.nat(2_000), { maxLength: 12 }), async (pieces, cuts) => {
        const bytes = Buffer.concat(pieces.map((piece) => (piece === null ? flushPacket : encodePacket(piece))));
        const places = cuts.filter((cut) => cut <= bytes.length);
        const packets = await readAll(new PacketReader(cutAt(bytes, places)));
        const read = packets.map((packet) => (packet.kind === 'data' ? [...packet.data] : null));
        expect(read).toEqual(pieces.map((piece) => (piece === null ? null : [...piece])));
      }),
    );
  });

  it('reads the largest packet there is, and refuses to write a larger one', async () => {
    const [packet] = await readAll(new PacketReader(cutAt(encodePacket(new Uint8Array(maxPacketData)), [])));
    expect(packet).toMatchObject({ kind: 'data', data: { length: maxPacketData } });
    expect(() => encodePacket(new Uint8Array(maxPacketData + 1))).toThrow(RangeError);
  });

  it.each(['0', '000', '0005', '0010too short', '0003', 'zzzz', '-001', '0x10', ' 12 ', 'fff1', 'ffff'])(
    'refuses %j',
    async (text) => {
      const outcome = readAll(new PacketReader(cutAt(latin(text), [1])));
      await expect(outcome).rejects.toBeInstanceOf(MeshError);
      await expect(outcome).rejects.toMatchObject({ errorName: 'protocol_error' });
    },
  );

  it('refuses every stream that ends within a packet', async () => {
    const whole = Buffer.concat([encodePacket('hello\n'), encodePacket('world\n')]);
    for (let length = 1; length < whole.length; length += 1) {
      if (length === 10) continue;
      const outcome = readAll(new PacketReader(cutAt(whole.subarray(0, length), [])));
      await expect(outcome).rejects.toMatchObject({ errorName: 'protocol_error' });
    }
  });

  it('leaves what follows the packets it read', async () => {
    const reader = new PacketReader(cutAt(latin('0009ready0000PACKrest'), [3, 15]));
    expect(await reader.next()).toMatchObject({ kind: 'data' });
    expect(await reader.next()).toEqual({ kind: 'flush' });
    const rest: Uint8Array[] = [];
    for await (const chunk of reader.rest()) rest.push(chunk);
    expect(Buffer.concat(rest).toString()).toBe('PACKrest');
  });

  it('knows the special packets of protocol v2', async () => {
    expect(await readAll(new PacketReader(cutAt(latin('000100020000'), [])))).toEqual([
      { kind: 'delim' },
      { kind: 'end' },
      { kind: 'flush' },
    ]);
  });
});

describe('packetText', () => {
  it('takes away one newline at the end and no more', () => {
    expect(packetText(latin('a\n\n'))).toBe('a\n');
    expect(packetText(latin('a'))).toBe('a');
  });
});
