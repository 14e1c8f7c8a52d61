/**
 * What a terminal might act on, hide or reorder by: the same as core's `visibleText` makes visible, for what is printed
 * before core is loaded, and after everything else as the last look at all that goes out.
 */
const unseen =
  /(?![\ufe0e\ufe0f])[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800\ufff9-\ufffb\u{13430}-\u{1343f}]/gu;
/** Combining marks without a letter to stand on, and beyond the fourth on one. */
const adrift = /(?:(?<![A-Za-z0-9]|\P{ASCII})|(?<=[\p{Mn}\p{Me}]{4}))[\p{Mn}\p{Me}]/gu;
/** What `style.ts` paints with. */
// eslint-disable-next-line no-control-regex -- naming it is the point
const painting = /(\u001b\[(?:1|2|22|31|32|33|36|39)m)/;

/** One line in which every character is seen: as an escape where it would not be. */
export function plainLine(text: string): string {
  return text.replace(unseen, escaped).replace(adrift, escaped);
}

/** As JSON writes it, so that a text that is JSON means the same. */
function escaped(char: string): string {
  return Array.from({ length: char.length }, (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`).join(
    '',
  );
}

/** Lines of ours, in which only the line breaks and, where `painted`, the colours are left to act. */
export function plainLines(text: string, { painted = false }: { painted?: boolean } = {}): string {
  return text
    .split('\n')
    .map((line) =>
      painted
        ? line
            .split(painting)
            .map((part, i) => (i % 2 === 1 ? part : plainLine(part)))
            .join('')
        : plainLine(line),
    )
    .join('\n');
}

/** A log entry or a stack, which may quote anything: all but the first of its lines behind `bar`. */
export function plainBehind(bar: string, text: string): string {
  return text.split('\n').map(plainLine).join(`\n${bar}`);
}

/**
 * A result as people are shown it: every text in it is one line, whatever a view does with it, so that none can begin a
 * line that looks like ours. Payloads stay as they are: their view puts a bar before each of their lines.
 */
export function plainResult<T>(result: T): T {
  // The same shape, and texts for texts.
  return plainValue(result) as T;
}

/** Texts whose lines are their own: `payload` has its bars, and a file of keys is for git. */
const asTheyAre = new Set(['payload', 'allowed_signers']);

function plainValue(value: unknown): unknown {
  if (typeof value === 'string') return plainLine(value);
  if (Array.isArray(value)) return value.map(plainValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, asTheyAre.has(key) ? item : plainValue(item)]),
  );
}
