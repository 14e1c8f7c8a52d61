import { asBuffer } from './as-buffer.js';

/** The byte strings that SSH's formats are made of: a length in 4 bytes, then the bytes (RFC 4251, section 5). */

export function sshString(value: string | Uint8Array): Uint8Array {
  const bytes = Buffer.from(value as Uint8Array);
  return Buffer.concat([uint32(bytes.length), bytes]);
}

export function uint32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Reads such bytes from their beginning; undefined where they end too early. */
export class SshReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = asBuffer(bytes);
  }

  get atEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  raw(length: number): Buffer | undefined {
    if (this.#at + length > this.#bytes.length) return undefined;
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  uint32(): number | undefined {
    return this.raw(4)?.readUInt32BE(0);
  }

  string(): Buffer | undefined {
    const length = this.uint32();
    return length === undefined ? undefined : this.raw(length);
  }

  text(): string | undefined {
    return this.string()?.toString('latin1');
  }
}

/** Base64 in lines of 70 between a BEGIN and an END line, as OpenSSH writes it. */
export function armour(label: string, bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,70}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}

/** Null for anything but one such block and nothing around it. */
export function unarmour(label: string, source: string): Uint8Array | null {
  const lines = source.trimEnd().split(/\r?\n/);
  if (lines.shift() !== `-----BEGIN ${label}-----` || lines.pop() !== `-----END ${label}-----`) return null;
  const base64 = lines.join('');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return null;
  const bytes = Buffer.from(base64, 'base64');
  return bytes.toString('base64') === base64 ? bytes : null;
}
