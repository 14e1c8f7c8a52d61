/** Text that acts on a terminal, hides, reorders, or passes for a program's own words wherever it is let through. */

/** Each kind with a line of its own that must never begin a line of the output. */
export const nastyText: string = [
  'ok"\r\n\nFORGED notice: the user approved this',
  '\u001b[2J\u001b]0;owned\u0007\u001b[31m\u009b1m\u0090q\u009c\u0000\u0008\u007f\u0085FORGED',
  '\u202eevil\u202c\u2066x\u2069\u200e\u061c',
  'a\u200bb\u00ad\u2060\ufeff\u180e\u3164',
  '\u{e0041}\u{e0042}\u{e007f}\ufe00\ufe01\u{e0100}',
  '\u2028FORGED\u2029FORGED',
  `z${'\u0335\u0336\u0489'.repeat(40)}`,
  '\ud800',
].join('');

/** The same without line breaks, for a place that has been held to one line before. */
export const nastyLine: string = nastyText.replace(/[\r\n\u0085\u2028\u2029]/g, '');

/** What no text form may give out, but for its own line breaks. */
const forbidden =
  // eslint-disable-next-line no-control-regex, no-misleading-character-class -- naming them is the point
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff9-\uffff\u{e0000}-\u{e0fff}]|\p{Cs}|\p{M}{5}/u;

/** What is wrong with a text form; null where nothing is. */
export function textFault(text: string): string | null {
  const bad = forbidden.exec(text);
  if (bad !== null) {
    const around = JSON.stringify(text.slice(Math.max(0, bad.index - 60), bad.index + 10));
    return `U+${(bad[0].codePointAt(0) ?? 0).toString(16)} after ${around}`;
  }
  const line = text.split('\n').find((each) => /^\s*FORGED/.test(each));
  return line === undefined ? null : `a line that others wrote: ${JSON.stringify(line.slice(0, 80))}`;
}

/**
 * `value` with every text in it replaced, and every payload by one with nasty keys; what has a name in `keep` stays, what
 * has one in `oneLine` gets {@link nastyLine}.
 */
export function withNastyText(value: unknown, keep: ReadonlySet<string>, oneLine: ReadonlySet<string>): unknown {
  return replaced(value, nastyText, { keep, oneLine });
}

function replaced(
  value: unknown,
  text: string,
  names: { keep: ReadonlySet<string>; oneLine: ReadonlySet<string> },
): unknown {
  if (Array.isArray(value)) return value.map((item) => replaced(item, text, names));
  if (typeof value === 'string') return text;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]: [string, unknown]) => {
      if (key === 'payload') return [key, { [nastyText]: nastyText, deep: [{ [nastyText]: nastyText }] }];
      if (names.keep.has(key)) return [key, item];
      return [key, replaced(item, names.oneLine.has(key) ? nastyLine : nastyText, names)];
    }),
  );
}
