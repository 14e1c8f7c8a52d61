import { type Json, decodeYaml, encodeYaml } from '@git-mesh/core';
import type { Chance } from './chance.js';

/** Texts that mean something to a parser, a path, a terminal or JavaScript. */
const tokens: readonly string[] = [
  ...[
    '&a ',
    '*a',
    '!!binary ',
    '!x ',
    '<<: ',
    '%YAML 1.1\n---\n',
    '---\n',
    '...\n',
    '? ',
    '- ',
    ': ',
    '# ',
    '| ',
    '>-\n',
  ],
  ...[
    '[',
    ']',
    '{',
    '}',
    ',',
    '"',
    "'",
    '\n',
    '\r\n',
    '\t',
    '  ',
    '\\u0000',
    '\\ud800',
    '\ufeff',
    '\0',
    '\u001b[2J',
    '\u202e',
  ],
  ...['__proto__', 'constructor', 'null', '~', 'true', '.inf', '.nan', '1e999', '-0', '0x', '9007199254740993', '0o17'],
  ...['..', '.', '/', '.git', 'con', 'CON.yaml', 'machine.yaml', '_all', '*', '\u0041\u030a', '\u00c5', '\ud83d\ude00'],
  ...['2026-12-02T05:07:12.345Z', '9999-12-31T23:59:59.999Z', '-', '01M8TJCKAS5FG8PGBAT5WBE2NB', 'studio', 'rogue'],
];

const values: readonly Json[] = [
  ...[null, true, 0, -1, 1.5, 1e21, 2 ** 53, '', 'x', ' ', '\0', '\u202e', '__proto__', [], {}, [[]], [null], '*'],
  ...['x'.repeat(5_000), 'é'.repeat(200), '2026-02-30T00:00:00.000Z', '275760-09-13T00:00:00.000Z', 'ssh-ed25519 AAAA'],
  JSON.parse('{"__proto__": {"polluted": true}}') as Json,
];

/** A few changes of single bytes and of pieces. */
export function mutatedBytes(input: Uint8Array, chance: Chance, most = 4): Buffer {
  let bytes = Buffer.from(input);
  for (let times = 1 + chance.below(most); times > 0; times--) {
    const at = chance.below(bytes.length + 1);
    const length = 1 + chance.below(chance.oneIn(4) ? 400 : 8);
    const [head, piece, tail] = [bytes.subarray(0, at), bytes.subarray(at, at + length), bytes.subarray(at + length)];
    const rest = bytes.subarray(at);
    bytes = Buffer.concat(
      chance.pick([
        () => [head, piece.map((byte) => byte ^ (1 << chance.below(8))), tail],
        () => [head, chance.bytes(piece.length), tail],
        () => [head, tail],
        () => [head, piece, rest],
        () => [head, chance.bytes(length), rest],
        () => [head, Buffer.alloc(length, chance.pick([0, 0xff, 0x30, 0x0a])), rest],
        () => [head],
        () => [rest],
      ])(),
    );
  }
  return bytes;
}

/** Words and signs taken out, doubled, exchanged, put in, or repeated up to `maxBytes`. */
export function mutatedText(input: string, chance: Chance, maxBytes = 32_768): string {
  const parts = input.match(/[\w.+-]+|\s+|[^\w\s]/gu) ?? [];
  for (let times = 1 + chance.below(5); times > 0; times--) {
    const at = chance.below(parts.length + 1);
    const token = chance.oneIn(3) && parts.length > 0 ? chance.pick(parts) : chance.pick(tokens);
    const many = chance.oneIn(12) ? Math.floor(maxBytes / 2 / Math.max(1, token.length)) : 1;
    chance.pick([
      () => parts.splice(at, 1 + chance.below(4)),
      () => parts.splice(at, 1, token),
      () => parts.splice(at, 0, token.repeat(many)),
      () => parts.splice(at, 0, ...parts.slice(at, at + 12)),
    ])();
  }
  return parts.join('').slice(0, maxBytes);
}

function mutatedJson(value: Json, chance: Chance): Json {
  if (Array.isArray(value) && value.length > 0 && !chance.oneIn(4)) {
    const items = [...value];
    const at = chance.below(items.length);
    if (chance.oneIn(3)) return Array<Json>(chance.pick([2, 40, 2_000])).fill(items[at] ?? null);
    items[at] = mutatedJson(items[at] ?? null, chance);
    return items;
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && !chance.oneIn(4)) {
    const entries = Object.entries(value);
    const at = chance.below(entries.length + 1);
    const [key, inner] = entries[at] ?? [chance.pick(tokens), chance.pick(values)];
    if (chance.oneIn(4)) entries.splice(at, 1);
    else entries.splice(at, 1, [chance.oneIn(6) ? chance.pick(tokens) : key, mutatedJson(inner, chance)]);
    return Object.fromEntries(entries);
  }
  if (!chance.oneIn(8)) return chance.pick(values);
  let deep = value;
  for (let levels = chance.pick([3, 99, 101, 3_000]); levels > 0; levels--)
    deep = chance.oneIn(2) ? [deep] : { a: deep };
  return deep;
}

/** A YAML file changed at the level of bytes, of tokens or of the value that it holds. */
export function mutatedFile(input: Uint8Array, chance: Chance): Buffer {
  const how = chance.below(10);
  if (how < 3) return mutatedBytes(input, chance);
  if (how < 6) return Buffer.from(mutatedText(Buffer.from(input).toString('utf8'), chance), 'utf8');
  let value: Json;
  try {
    value = decodeYaml(input);
  } catch {
    // What was changed before may be none any more.
    return mutatedBytes(input, chance);
  }
  for (let times = 1 + chance.below(3); times > 0; times--) value = mutatedJson(value, chance);
  let text: string;
  try {
    text = chance.oneIn(2) ? encodeYaml(value) : JSON.stringify(value);
  } catch {
    // Too deep for what writes it: written by hand, as an attacker does.
    text = `${'{"a": ['.repeat(3_000)}${']}'.repeat(3_000)}`;
  }
  return Buffer.from(chance.oneIn(6) ? mutatedText(text, chance) : text, 'utf8');
}
