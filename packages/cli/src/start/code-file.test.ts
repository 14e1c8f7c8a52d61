import { describe, expect, it } from 'vitest';
import { type CompiledCode, decodeCode, encodeCode } from './code-file.js';

const code: CompiledCode = {
  compiledBytes: 1234,
  afterRefusal: true,
  parts: new Map([
    ['main.cjs', Buffer.from('compiled code of main')],
    ['chunks/a.cjs', Buffer.alloc(0)],
    ['chunks/b.cjs', Buffer.from('of b')],
  ]),
};

describe('a file of compiled code', () => {
  it('gives back what was put into it', () => {
    expect(decodeCode(encodeCode(code))).toEqual(code);
    const none = { compiledBytes: 0, afterRefusal: false, parts: new Map() };
    expect(decodeCode(encodeCode(none))).toEqual(none);
  });

  it('begins each part where the engine can take it as it is', () => {
    const decoded = decodeCode(encodeCode(code));
    const offsets = [...(decoded?.parts.values() ?? [])].map(({ byteOffset }) => byteOffset % 8);
    expect(new Set(offsets).size).toBe(1);
  });

  it('gives nothing else, whichever byte of it was changed', () => {
    const file = encodeCode(code);
    for (let at = 0; at < file.length; at++) {
      const damaged = Buffer.from(file);
      damaged.writeUInt8(file.readUInt8(at) ^ 0x41, at);
      for (const [name, part] of decodeCode(damaged)?.parts ?? []) expect(part).toEqual(code.parts.get(name));
    }
  });

  it('gives nothing else, wherever it was cut', () => {
    const file = encodeCode(code);
    for (let length = 0; length < file.length; length++) {
      const cut = Buffer.from(file.subarray(0, length));
      for (const [name, part] of decodeCode(cut)?.parts ?? []) expect(part).toEqual(code.parts.get(name));
    }
    expect(decodeCode(Buffer.from('something else that is long enough'))).toBeNull();
  });
});
