/**
 * Characters that a terminal or an editor acts on instead of showing: controls (C0, DEL, C1), zero-width and soft
 * hyphen, line and paragraph separators, bidi marks, overrides and isolates, byte-order mark, tags, lone surrogates,
 * noncharacters and variation selectors' invisible kin.
 */
const unseen =
  // eslint-disable-next-line no-control-regex, no-misleading-character-class -- naming them is the point
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\u{e0000}-\u{e0fff}]|\p{Cs}/gu;

/**
 * `text` as one line that shows every character: what a terminal would act on or hide is written as `\u001b` (beyond the
 * basic plane as `\u{e0001}`). Longer than `maxLength` characters it is cut and ends in `…`. Escapes are never cut in half.
 */
export function visibleText(text: string, options: { maxLength?: number } = {}): string {
  const max = options.maxLength ?? Number.POSITIVE_INFINITY;
  // Bounded before it is cleaned: hostile text may be megabytes long.
  const bounded = text.length > max + 1 ? text.slice(0, max + 1) : text;
  let out = '';
  let length = 0;
  let lastFit = '';
  for (const char of bounded) {
    const piece = char.replace(unseen, escape);
    length += piece.length === char.length ? 1 : piece.length;
    if (length > max) return `${lastFit}…`;
    out += piece;
    if (length < max) lastFit = out;
  }
  return text.length > bounded.length ? `${lastFit}…` : out;
}

/** The escape that stands for one unseen character. */
function escape(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

/** True where {@link visibleText} would write an escape. */
export function hasUnseen(text: string): boolean {
  return text.search(unseen) !== -1;
}

/** False where half of a surrogate pair stands alone, which UTF-8 cannot carry. */
export function isWellFormed(text: string): boolean {
  return !/\p{Cs}/u.test(text);
}

/** True for text with a line break or another control character: no text of one line. */
export function hasControl(text: string): boolean {
  return /[\p{Cc}\u2028\u2029]/u.test(text);
}
