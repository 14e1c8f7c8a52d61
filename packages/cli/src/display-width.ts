/** Code points that a terminal draws two columns wide: East Asian Wide and Fullwidth, as first and last of each range. */
const wideRanges: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97c],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18cff],
  [0x1aff0, 0x1b2ff],
  [0x1f200, 0x1f265],
  [0x20000, 0x3fffd],
];
const zeroWidth = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]/u;
const emoji = /^\p{Emoji_Presentation}|\ufe0f/u;
const printableAscii = /^[\u0020-\u007e]*$/;

let graphemes: Intl.Segmenter | undefined;
function segments(text: string): Iterable<Intl.SegmentData> {
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return graphemes.segment(text);
}

function graphemeWidth(grapheme: string): number {
  if (emoji.test(grapheme)) return 2;
  if (zeroWidth.test(grapheme)) return 0;
  const point = grapheme.codePointAt(0) ?? 0;
  return wideRanges.some(([first, last]) => point >= first && point <= last) ? 2 : 1;
}

/** Columns that `text` takes on a terminal. */
export function displayWidth(text: string): number {
  if (printableAscii.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segments(text)) width += graphemeWidth(segment);
  return width;
}

/** `text`, cut to at most `columns` columns with `…` where it was longer; never cuts inside a character. */
export function truncateToWidth(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  let kept = '';
  let width = 0;
  for (const { segment } of segments(text)) {
    const next = width + graphemeWidth(segment);
    if (next > columns - 1) break;
    kept += segment;
    width = next;
  }
  return columns > 0 ? `${kept.trimEnd()}…` : '';
}

/**
 * `text` in rows of at most `columns` columns: broken at spaces, which the break stands for, where a row's second half has
 * some, else between two characters. A row that a single character overfills holds that character.
 */
export function rowsOf(text: string, columns: number): string[] {
  if (displayWidth(text) <= columns) return [text];
  const rows: string[] = [];
  let row = '';
  let width = 0;
  for (const { segment } of segments(text)) {
    const wide = graphemeWidth(segment);
    if (width + wide > columns && row !== '') {
      const space = segment === ' ' ? row.length : row.lastIndexOf(' ') + 1;
      const at = displayWidth(row.slice(0, space)) * 2 > columns ? space : row.length;
      rows.push(row.slice(0, at).trimEnd());
      row = row.slice(at);
      width = displayWidth(row);
      if (segment === ' ' && row === '') continue;
    }
    row += segment;
    width += wide;
  }
  return [...rows, row];
}
