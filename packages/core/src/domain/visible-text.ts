/**
 * Characters that a terminal or an editor acts on instead of showing: controls (C0, DEL, C1), line and paragraph
 * separators, whatever Unicode calls ignorable (zero-width, soft hyphen, bidi marks, overrides and isolates, byte-order
 * mark, tags, variation selectors, fillers), annotation and hieroglyph controls, the blank Braille pattern, lone
 * surrogates and noncharacters. The two selectors of text and emoji style are left: `visibleText` looks at where they are.
 */
const unseen =
  /(?![\ufe0e\ufe0f])[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800\ufff9-\ufffb\u{13430}-\u{1343f}]/gu;

/** Drawn over the character before it. Written languages need four at most; more reach into the lines around. */
const mark = /^[\p{Mn}\p{Me}]$/u;
const mostMarks = 4;
/** What a mark may stand on: nothing of what we write around a text, such as a quotation mark. */
const bearer = /^[A-Za-z0-9]$|^[^\p{ASCII}\p{Z}\p{C}]$/u;

/**
 * `text` as one line that shows every character: what a terminal would act on or hide is written as `\u001b` (beyond the
 * basic plane as `\u{e0001}`), and so are combining marks without a letter to stand on or beyond the fourth on one. Longer than `maxLength` characters it is cut and ends in `…`. Escapes are never cut in half.
 */
export function visibleText(text: string, options: { maxLength?: number } = {}): string {
  const max = options.maxLength ?? Number.POSITIVE_INFINITY;
  // Bounded before it is cleaned: hostile text may be megabytes long.
  const bounded = text.length > max + 1 ? text.slice(0, max + 1) : text;
  let out = '';
  let length = 0;
  let lastFit = '';
  /** How many marks the next one would be the one after; none may come where that is `mostMarks`. */
  let marks = mostMarks;
  for (const char of bounded) {
    let piece = char.replace(unseen, escape);
    if (piece === char && char > '~') {
      if (!mark.test(char)) marks = bearer.test(char) ? 0 : mostMarks;
      else if (marks < mostMarks) marks = Math.max(marks + 1, isSelector(char) ? mostMarks - 1 : 0);
      else piece = escape(char);
    } else marks = bearer.test(piece) ? 0 : mostMarks;
    length += piece.length === char.length ? 1 : piece.length;
    if (length > max) return `${lastFit}…`;
    out += piece;
    if (length < max) lastFit = out;
  }
  return text.length > bounded.length ? `${lastFit}…` : out;
}

/** Of text or emoji style. Runs of them carry hidden bytes; behind one only a keycap stands. */
const isSelector = (char: string): boolean => char === '\ufe0e' || char === '\ufe0f';

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

/** True for text with characters that turn the direction of what follows: embeddings, overrides and isolates. */
export function hasDirectionChange(text: string): boolean {
  return /[\u202a-\u202e\u2066-\u2069]/.test(text);
}
