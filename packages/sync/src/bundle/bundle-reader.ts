import { createHash } from 'node:crypto';
import { MeshError } from '@git-mesh/core';
import { parseHeader, signatures } from './header.js';
import type { BundleHeader } from './header.js';

/** 200,000 branches; past it a bundle is no mesh's, and reading on would only fill the memory. */
const maxHeaderBytes = 32 * 1024 * 1024;
const newline = 10;

/** A bundle that is read from front to back: its header, then its pack. */
export class BundleReader {
  readonly header: BundleHeader;
  readonly #source: AsyncIterator<Uint8Array>;
  /** What was read with the header's last bytes. */
  #rest: Uint8Array;

  private constructor(header: BundleHeader, source: AsyncIterator<Uint8Array>, rest: Uint8Array) {
    this.header = header;
    this.#source = source;
    this.#rest = rest;
  }

  /**
   * Reads the header and no further. Whoever opens a reader closes it.
   * @throws MeshError `invalid_argument` for what is no bundle, `protocol_error` for one that is cut or malformed, and
   * whatever the source throws.
   */
  static async open(bytes: AsyncIterable<Uint8Array>): Promise<BundleReader> {
    const source = bytes[Symbol.asyncIterator]();
    try {
      const { text, rest } = await readHeader(source);
      return new BundleReader(parseHeader(text), source, rest);
    } catch (error) {
      await source.return?.();
      throw error;
    }
  }

  /** The pack, whole; once only. @throws MeshError `payload_too_large`. */
  async pack(maxBytes: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for (let part: Uint8Array | null = this.#rest; part !== null; part = await this.#next()) {
      bytes += part.length;
      if (bytes > maxBytes) {
        throw new MeshError(
          'payload_too_large',
          `its pack has more than the ${maxBytes} bytes that are taken in at once: carry the mesh in parts, with git mesh export --since-last`,
          { data: { limit: maxBytes } },
        );
      }
      parts.push(part);
    }
    return Buffer.concat(parts);
  }

  /**
   * Reads the pack to its end and keeps nothing of it, for what is here already: a bundle that was cut or changed is told
   * all the same. @throws MeshError `protocol_error`
   */
  async check(): Promise<void> {
    const hash = createHash('sha1');
    // The last 20 bytes are the checksum of all before them.
    let tail = Buffer.alloc(0);
    let start = Buffer.alloc(0);
    for (let part: Uint8Array | null = this.#rest; part !== null; part = await this.#next()) {
      if (start.length < 12) start = Buffer.concat([start, part]).subarray(0, 12);
      tail = Buffer.concat([tail, part]);
      hash.update(tail.subarray(0, Math.max(0, tail.length - 20)));
      tail = tail.subarray(Math.max(0, tail.length - 20));
    }
    if (start.toString('latin1', 0, 4) !== 'PACK' || !hash.digest().equals(tail)) {
      throw new MeshError('protocol_error', 'its pack is cut or was changed on the way: carry it anew');
    }
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }

  async #next(): Promise<Uint8Array | null> {
    const next = await this.#source.next();
    return next.done === true ? null : next.value;
  }
}

async function readHeader(source: AsyncIterator<Uint8Array>): Promise<{ text: string; rest: Uint8Array }> {
  const parts: Buffer[] = [];
  let bytes = 0;
  let checked = false;
  let last = 0;
  for (;;) {
    const next = await source.next();
    if (next.done === true) {
      throw checked ? new MeshError('protocol_error', 'it ends inside its header: it was cut') : noBundle();
    }
    const part = Buffer.from(next.value.buffer, next.value.byteOffset, next.value.length);
    if (part.length === 0) continue;
    // The header ends with the first empty line, whose two line ends may come in two parts.
    const split = last === newline && part[0] === newline;
    const within = split ? -1 : part.indexOf('\n\n');
    const end = split ? bytes : within < 0 ? null : bytes + within + 1;
    parts.push(part);
    bytes += part.length;
    last = part.at(-1) ?? 0;
    if (!checked && bytes >= signatureLength) {
      const start = Buffer.concat(parts).toString('latin1', 0, signatureLength);
      if (!signatures.includes(start)) throw noBundle();
      checked = true;
    }
    if (end !== null && checked) {
      const all = Buffer.concat(parts);
      return { text: all.toString('utf8', 0, end), rest: all.subarray(end + 1) };
    }
    if (bytes > maxHeaderBytes)
      throw new MeshError('protocol_error', `its header has more than ${maxHeaderBytes} bytes`);
  }
}

const signatureLength = signatures[0]?.length ?? 0;

const noBundle = (): MeshError =>
  new MeshError(
    'invalid_argument',
    'it is no git bundle: expected a file that git mesh export or git bundle create made, which begins with "# v2 git bundle"',
  );
