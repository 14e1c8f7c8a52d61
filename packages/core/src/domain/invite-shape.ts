/** Begins like one, and is no path or URL that begins so (`mesh1.git`): even a damaged one must not be shown. */
const codeLike = /^\s*["'`<]?mesh\d{1,9}\.(?:eyJ|[^/\\:]{60})/i;
/** Typed where an invitation may stand: cut to its beginning, in upper case, with spaces. Not the files that may begin so. */
const meantAsCode = /^\s*["'`<]?mesh\d{1,9}\.(?!(?:git|bundle)\s*$)[^/\\:]*$/i;
/** Behind other words, as in the whole line that git mesh invite prints. */
const codeAmongWords = /[\s"'`<(]mesh\d{1,9}\.eyJ/i;

/**
 * Whether what was given to join is meant as an invitation, sound or not, rather than as a URL or a path: a code, or a
 * line or a letter with one in it.
 */
export function isInviteCode(text: string): boolean {
  return mayBeInviteCode(text) || meantAsCode.test(text);
}

/** Whether a text may hold an invitation's secret: narrower than {@link isInviteCode}, for the names of files and hosts. */
export function mayBeInviteCode(text: string): boolean {
  return codeLike.test(text) || codeAmongWords.test(text);
}
