import { MeshError, visibleText, withoutInviteCodes } from '@git-mesh/core';

const longest = 500;
/** More than any message needs; what is longer is not searched. */
const searched = 16_384;

/** What must never be shown, and what stands in its place. Every pattern is linear in the text's length. */
const secrets: readonly (readonly [RegExp, string])[] = [
  // user:password@ or token@ in a URL; the last @ before the path ends the credentials.
  [/\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#'"]{1,2000}@/gi, '$1***@'],
  // The rest of an authentication header, whatever its scheme.
  [/\b((?:proxy-)?authorization|private-token|x-api-key|cookie|set-cookie)(\s*[:=]\s*)[^\r\n]{1,2000}/gi, '$1$2***'],
  [/\b(bearer|basic)\s+[A-Za-z0-9+/=._~-]{8,2000}/gi, '$1 ***'],
  [
    /([?&;\s"'])((?:access_?|auth_?|private_?|refresh_?|id_?|api_?)?(?:token|key|secret|password|passwd|pwd))(["']?\s*[=:]\s*["']?)[^\s&;"']{1,2000}/gi,
    '$1$2$3***',
  ],
  [/\bgh[a-z]_[A-Za-z0-9]{16,255}/g, '***'],
  [/\bgithub_pat_[A-Za-z0-9_]{20,255}/g, '***'],
  [/\bgl[a-z]{2,8}-[A-Za-z0-9_.-]{16,255}/g, '***'],
  [/\bxox[a-z]-[A-Za-z0-9-]{10,255}/g, '***'],
  [/\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g, '***'],
  [/\b(?:npm|hf|ATBB|ATATT|sk|pat)[_-]?[A-Za-z0-9_-]{30,255}/g, '***'],
  [/\beyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{4,2000}(?:\.[A-Za-z0-9_-]{0,2000})?/g, '***'],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, '***'],
];

/**
 * Text of others (a server's words, a child's stderr) as one line fit to be shown: credentials replaced by `***`,
 * control characters made visible, lines joined by a space, cut after `maxLength` characters (500).
 */
export function redact(text: string, options: { maxLength?: number } = {}): string {
  let clean = text.slice(0, searched);
  clean = withoutInviteCodes(clean);
  for (const [pattern, replacement] of secrets) clean = clean.replace(pattern, replacement);
  const line = clean
    .split(/[\r\n\t]+/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join(' ');
  return visibleText(line, { maxLength: options.maxLength ?? longest });
}

/** What a person may be told of any failure: one redacted line without stack or path. */
export function plainMessage(error: unknown): string {
  if (error instanceof MeshError) return redact(error.message, { maxLength: 2_000 });
  if (!(error instanceof Error)) return redact(String(error));
  // Node's system errors read "ENOENT: no such file or directory, open '/a/path'": the reason without the path.
  if ('syscall' in error && 'code' in error) return redact(error.message.split(/, \w+ ['"]/)[0] ?? String(error.code));
  return redact(error.message.split('\n')[0] ?? '');
}
