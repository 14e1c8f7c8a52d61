// What a terminal might act on or reorder by: DEL, C1 controls, line separators, bidirectional marks and overrides.
const unsafe = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** One line of JSON whose characters a terminal shows as they are; parses to exactly `value`. */
export function jsonLine(value: unknown): string {
  const text = JSON.stringify(value).replace(
    unsafe,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `${text}\n`;
}
