/** What no shell takes apart; a backslash only after a drive's letter or as a share, where it is Windows' own. */
const plain = /^[\w./:@%+=,-]+$/;
const windowsPath = /^(?:[A-Za-z]:\\|\\\\)/;

/**
 * `text` as one word of a command that a person is told to run: as it is where that is one, else quoted as sh has it, and
 * for a path of Windows in the double quotes that its shells know.
 */
export function shellWord(text: string): string {
  if (windowsPath.test(text)) return plain.test(text.replaceAll('\\', '/')) ? text : `"${text}"`;
  return plain.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
