import { crc32 } from 'node:zlib';

/** The compiled code of a command's parts, as one file holds it. */
export interface CompiledCode {
  /** What the engine had compiled in all when this was written, in bytes. */
  compiledBytes: number;
  /** Written because the engine had refused the file before it: a second refusal writes none. */
  afterRefusal: boolean;
  parts: ReadonlyMap<string, Buffer>;
}

interface Index {
  compiledBytes: number;
  afterRefusal: boolean;
  parts: { name: string; at: number; length: number; crc: number }[];
}

const magic = Buffer.from('gmcode1\n');
const headerLength = magic.length + 8;
/** The engine copies code that does not begin at a multiple of this. */
const alignment = 8;
const aligned = (length: number): number => Math.ceil(length / alignment) * alignment;

/** The magic; length and CRC-32 of the index; the index (JSON); the parts where it says, from there on. */
export function encodeCode({ compiledBytes, afterRefusal, parts }: CompiledCode): Buffer {
  let end = 0;
  const index: Index = { compiledBytes, afterRefusal, parts: [] };
  for (const [name, code] of parts) {
    index.parts.push({ name, at: end, length: code.length, crc: crc32(code) });
    end = aligned(end + code.length);
  }
  const text = Buffer.from(JSON.stringify(index));
  const start = aligned(headerLength + text.length);
  const file = Buffer.alloc(start + end);
  magic.copy(file);
  file.writeUInt32LE(text.length, magic.length);
  file.writeUInt32LE(crc32(text), magic.length + 4);
  text.copy(file, headerLength);
  for (const { name, at } of index.parts) parts.get(name)?.copy(file, start + at);
  return file;
}

/**
 * Reads what `encodeCode` made. The engine checks nothing and crashes on code that was damaged: a part with another CRC
 * than it was written with is left out.
 * @returns null where the file is of another kind or its index is damaged.
 */
export function decodeCode(file: Buffer): CompiledCode | null {
  if (file.length < headerLength || !file.subarray(0, magic.length).equals(magic)) return null;
  const length = file.readUInt32LE(magic.length);
  const text = file.subarray(headerLength, headerLength + length);
  if (text.length !== length || crc32(text) !== file.readUInt32LE(magic.length + 4)) return null;
  // Its CRC is right, so it is what encodeCode wrote.
  const index = JSON.parse(text.toString()) as Index;
  const start = aligned(headerLength + length);
  const parts = new Map<string, Buffer>();
  for (const { name, at, length, crc } of index.parts) {
    const code = file.subarray(start + at, start + at + length);
    if (code.length === length && crc32(code) === crc) parts.set(name, code);
  }
  return { compiledBytes: index.compiledBytes, afterRefusal: index.afterRefusal, parts };
}
