import type { Env } from '../git-env.js';
import { runUserGit } from './user-git.js';

/** A helper that opens a vault may take a moment; one that waits for somebody is given up. */
const askLimitMs = 8_000;
const tellLimitMs = 5_000;

/**
 * Asks git's credential helpers (`git credential fill`) about the URL's host; null where none knows, or git is missing.
 * Never asks a person: without an answer of a helper git fails instead.
 *
 * @throws MeshError `deadline` when the signal fires.
 */
export async function askHelper(options: {
  url: URL;
  /** Empty where the URL names none. */
  username: string;
  env: Env;
  signal: AbortSignal;
}): Promise<{ username: string; password: string } | null> {
  const { url, username, env, signal } = options;
  const input = describe(url, username === '' ? {} : { username });
  if (input === null) return null;
  const output = await runUserGit(['credential', 'fill'], { env, input, signal, limitMs: askLimitMs });
  if (output === null) return null;
  const answer = new Map(
    output.split(/\r?\n/).map((line): [string, string] => {
      const equals = line.indexOf('=');
      return [line.slice(0, Math.max(equals, 0)), line.slice(equals + 1)];
    }),
  );
  const [user, password] = [answer.get('username') ?? username, answer.get('password') ?? ''];
  return password === '' ? null : { username: user, password };
}

/** Tells the helpers that a credential of theirs was taken or refused. Best effort: a helper need not remember. */
export async function tellHelper(
  how: 'approve' | 'reject',
  options: { url: URL; username: string; password: string; env: Env },
): Promise<void> {
  const { url, username, password, env } = options;
  const input = describe(url, { username, password });
  if (input !== null) await runUserGit(['credential', how], { env, input, limitMs: tellLimitMs });
}

/** git's credential format; null where a value cannot be said in it (a line each). */
function describe(url: URL, more: Readonly<Record<string, string>>): string | null {
  const fields = {
    protocol: url.protocol.replace(':', ''),
    host: url.host,
    path: decodeURIComponent(url.pathname).replace(/^\//, ''),
    ...more,
  };
  // eslint-disable-next-line no-control-regex -- naming them is the point
  if (Object.values(fields).some((value) => /[\n\r\u0000]/.test(value))) return null;
  return `${Object.entries(fields)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')}\n`;
}
