import { MeshError } from '@git-mesh/core';

/** One packet of git's wire format. `delim` and `end` occur in protocol v2 only. */
export type Packet = { kind: 'data'; data: Uint8Array } | { kind: 'flush' } | { kind: 'delim' } | { kind: 'end' };

/** What one packet may carry: 65520 bytes with its four-digit length. */
export const maxPacketData = 65_516;

export const flushPacket: Uint8Array = Buffer.from('0000', 'latin1');

/** A string is sent as UTF-8. @throws RangeError past {@link maxPacketData}. */
export function encodePacket(content: string | Uint8Array): Uint8Array {
  const data = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
  if (data.length > maxPacketData) throw new RangeError(`a packet carries ${maxPacketData} bytes, not ${data.length}`);
  return Buffer.concat([Buffer.from((data.length + 4).toString(16).padStart(4, '0'), 'latin1'), data]);
}

/** A line of text as git reads it: without the one newline that may end it. Bytes that are not UTF-8 become U+FFFD. */
export function packetText(data: Uint8Array): string {
  const text = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('utf8');
  return text.endsWith('\n') ? text.slice(0, -1) : text;
}

/**
 * Reads packets one at a time from chunks that are cut anywhere. Takes from the source only what the packets need, so
 * that the next stage of a conversation can go on from the same source.
 */
export class PacketReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #chunks: Uint8Array[] = [];
  #length = 0;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /**
   * The next packet; null where the source ended between two packets.
   * @throws MeshError `protocol_error` for a length that is none, or an end within a packet; whatever the source throws.
   */
  async next(): Promise<Packet | null> {
    if (!(await this.#fill(4))) {
      if (this.#length > 0) throw cut(4, this.#length);
      return null;
    }
    const digits = Buffer.from(this.#take(4)).toString('latin1');
    // parseInt alone would take "1g2 " and the like.
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw new MeshError('protocol_error', 'a packet begins with no valid length');
    const length = Number.parseInt(digits, 16);
    if (length === 0) return { kind: 'flush' };
    if (length === 1) return { kind: 'delim' };
    if (length === 2) return { kind: 'end' };
    if (length < 4 || length > maxPacketData + 4) {
      throw new MeshError(
        'protocol_error',
        `a packet claims a length of ${length}: expected 4 to ${maxPacketData + 4}`,
      );
    }
    if (!(await this.#fill(length - 4))) throw cut(length - 4, this.#length);
    return { kind: 'data', data: this.#take(length - 4) };
  }

  /** What follows the packets read so far, raw, to the end of the source. */
  async *rest(): AsyncGenerator<Uint8Array, void, undefined> {
    if (this.#length > 0) yield this.#take(this.#length);
    try {
      for (let step = await this.#source.next(); step.done !== true; step = await this.#source.next()) yield step.value;
    } finally {
      await this.close();
    }
  }

  /** Tells the source that no more is wanted. */
  async close(): Promise<void> {
    await this.#source.return?.();
  }

  async #fill(length: number): Promise<boolean> {
    while (this.#length < length) {
      const step = await this.#source.next();
      if (step.done === true) return false;
      this.#chunks.push(step.value);
      this.#length += step.value.length;
    }
    return true;
  }

  /** Views into the chunks where a packet lies within one, a copy where it spans several. */
  #take(length: number): Uint8Array {
    const first = this.#chunks[0];
    if (length === 0 || first === undefined) return new Uint8Array(0);
    this.#length -= length;
    if (first.length > length) {
      this.#chunks[0] = first.subarray(length);
      return first.subarray(0, length);
    }
    const parts: Uint8Array[] = [];
    for (let missing = length; missing > 0;) {
      const chunk = this.#chunks[0];
      if (chunk === undefined) break;
      const part = chunk.subarray(0, missing);
      parts.push(part);
      missing -= part.length;
      if (part.length === chunk.length) this.#chunks.shift();
      else this.#chunks[0] = chunk.subarray(part.length);
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
  }
}

function cut(expected: number, got: number): MeshError {
  return new MeshError('protocol_error', `the answer was cut inside a packet: expected ${expected} bytes, got ${got}`);
}
