import { hasUnseen, MeshError } from '@git-mesh/core';
import type { HttpUrl } from './remote-url.js';

/**
 * `http(s)://[user[:password]@]host[:port]/path`, kept as it was given.
 * @throws what `refuse` makes of the reason.
 */
export function parseHttpUrl(text: string, refuse: (why: string) => MeshError): HttpUrl {
  if (!URL.canParse(text)) throw refuse('it is no URL (as in https://host/path.git)');
  const url = new URL(text);
  if (url.search !== '' || url.hash !== '')
    throw refuse('the URL of a repository has no ? and no # (write %3F and %23)');
  if (/%(?:2f|5c)/i.test(url.pathname)) throw refuse('its path holds an encoded slash');
  let parts: string[];
  try {
    parts = [...userAndPassword(url), decodeURIComponent(url.pathname)];
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    throw refuse('it holds a % that begins no valid code');
  }
  if (parts.some((part) => hasUnseen(part))) throw refuse('it holds control or invisible characters');
  return { kind: 'http', url: text };
}

/**
 * A URL that holds a password or token may be used, but is never kept: the configuration is a plain file.
 * @throws MeshError `invalid_argument`, without the secret.
 */
export function refuseToStoreSecret(text: string): void {
  const url = new URL(text);
  const [user, password] = userAndPassword(url);
  if (password === '' && !looksLikeToken(user)) return;
  url.username = '';
  url.password = '';
  throw new MeshError(
    'invalid_argument',
    `the remote's URL holds a password or token, which would be stored as plain text. Give ${url.href} instead, and the secret to git's credential helper (a remote that you use with git has one; else git credential approve), or in the environment as GIT_MESH_TOKEN`,
  );
}

/** A user's name is no secret, but hosts take a token in its place too. */
function looksLikeToken(user: string): boolean {
  return /^(?:gh[a-z]|github_pat|gl[a-z]{2,8}|npm|hf|pat)[_-]/.test(user) || (user.length >= 32 && !user.includes('@'));
}

/** Decoded; empty where the URL has none. */
export function userAndPassword(url: URL): [string, string] {
  return [decodeURIComponent(url.username), decodeURIComponent(url.password)];
}
