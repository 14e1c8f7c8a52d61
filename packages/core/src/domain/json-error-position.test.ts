import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonErrorPosition } from './json-error-position.js';

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('the place where JSON breaks', () => {
  it.each([
    ['{"a":1,}', 1, 8],
    ['{a:1}', 1, 2],
    ['{"a":1} x', 1, 9],
    ['{\n  "a": tru\n}', 2, 8],
    ['{"a":01}', 1, 7],
    ['', 1, 1],
    ['{"a":"x', 1, 8],
    ['[1 2]', 1, 4],
    ['{"a":"\t"}', 1, 7],
  ])('of %j is line %i, column %i', (text, line, column) => {
    expect(jsonErrorPosition(text)).toMatchObject({ line, column });
  });

  it('is there exactly when the engine refuses the text', () => {
    const broken = fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom('', '"', '{', ']', ',', 'x', '1', '\\', '\n'))
      .map(([json, at, insert]) => {
        const index = json.length === 0 ? 0 : at % json.length;
        return json.slice(0, index) + insert + json.slice(index + 1);
      });
    fc.assert(
      fc.property(fc.oneof(fc.json(), broken), (text) => {
        expect(jsonErrorPosition(text) === null).toBe(parses(text));
      }),
      { numRuns: 2000 },
    );
  });

  it('gives up on absurd nesting instead of crashing', () => {
    expect(jsonErrorPosition('['.repeat(200_000))).toBeNull();
  });
});
