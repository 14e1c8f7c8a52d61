import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeYaml } from './codec.js';
import { jsonEqual } from './json.js';
import { readOwnYaml } from './own-yaml.js';
import type { Json } from './records.js';
import { writeReadableYaml } from './yaml-writer.js';

const maxDepth = 100;
const text = fc.string({ unit: fc.oneof(fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }), fc.constantFrom(...Array.from(': -#"\\\n\'[]{}?,&*!|>%@`~09aé😀\u2028\ufeff\u0085\t'))) }); // prettier-ignore
const json = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(fc.constantFrom(null, true, false, -0, 1e21, 1e-7), fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), text), // prettier-ignore
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(text, fc.constantFrom('__proto__', '1', 'a')), tie('value'), { maxKeys: 4 }),
  ),
})).value;

describe('a file in our own form', () => {
  it('is read as what was written, whatever that is', () => {
    let read = 0;
    fc.assert(
      fc.property(json, (value) => {
        const own = readOwnYaml(writeReadableYaml(value, maxDepth), maxDepth);
        if (own === undefined) return;
        read += 1;
        expect(jsonEqual(own, value)).toBe(true);
      }),
      { numRuns: 2000 },
    );
    expect(read).toBeGreaterThan(1000);
  });

  it('is every record that has no key of more than 500 characters', () => {
    const value = {
      format: 1,
      label: null,
      caps: ['a', 'b: c', '- d', ''],
      lists: [[1, [2]], [{ a: 1, b: { c: [] } }], {}],
      payload: { 'a b': 'x', '"': '#', '': true, 'é😀': '\u{1F600}\u{10FFFF}\u001b', '? q': '- ', __proto__: null },
    };
    expect(readOwnYaml(writeReadableYaml(value, maxDepth), maxDepth)).toEqual(value);
    for (const each of [null, 'text', 5, -1.5, [], {}, [1], 'a: b', '- a', '']) {
      expect(readOwnYaml(writeReadableYaml(each, maxDepth), maxDepth)).toEqual(each);
    }
  });

  it('is nothing else, and what is in it is what a YAML parser reads', () => {
    const line = fc.constantFrom('a: 1', 'a: x', '- a: 1', '  - b', '  b: "x"', '? a', ': 1', 'b: &a 1', 'c: *a', '--- ', '# c', 'd: [1]', 'e: 0x1', 'f: 01', 'g: 1.0', 'h: yes', 'i: |', '"j": \\x', 'k:', '%YAML 1.1', 'l: "\\U0001F600"', 'm: "\\/"', 'n: \'x\'', 'o: {a: 1}', '- - 1', '    - 2', 'p: !!str 1', 'q: a: b', ' r: 1'); // prettier-ignore
    fc.assert(
      fc.property(fc.array(fc.oneof(line, text), { maxLength: 6 }), fc.constantFrom('\n', '\r\n', ''), (lines, end) => {
        const file = lines.map((each) => each + end).join('');
        const own = readOwnYaml(file, maxDepth);
        if (own === undefined) return;
        expect(jsonEqual(decodeYaml(new TextEncoder().encode(file)), own)).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  it('is nothing that is nested deeper than allowed', () => {
    const deep = (levels: number): string =>
      `${Array.from({ length: levels }, (_, n) => `${'  '.repeat(n)}a:`).join('\n')} 1\n`;
    expect(readOwnYaml(deep(100), maxDepth)).toBeDefined();
    expect(readOwnYaml(deep(101), maxDepth)).toBeUndefined();
    expect(readOwnYaml(`${'- '.repeat(100_000)}1\n`, maxDepth)).toBeUndefined();
  });
});
