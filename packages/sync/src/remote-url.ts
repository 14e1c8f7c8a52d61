import { posix, resolve, win32 } from 'node:path';
import { fileURLToPath } from 'node:url';
import { decodeInviteCode, hasUnseen, mayBeInviteCode, MeshError, visibleText } from '@git-mesh/core';
import { parseHttpUrl } from './http-url.js';
import { redact } from './redact.js';
import { parseScpLike, parseSshUrl } from './ssh-url.js';

export interface LocalUrl {
  kind: 'local';
  /** Absolute. */
  path: string;
  /** What is stored and shown; equal to `path`, or the file:// URL as it was given. */
  url: string;
}

export interface SshUrl {
  kind: 'ssh';
  /** Null where ssh's own configuration chooses it. */
  user: string | null;
  /** A name of ssh's configuration as well; an IPv6 address without brackets. Never begins with `-`. */
  host: string;
  port: number | null;
  /** As the host's shell is to be given it: absolute, from the user's home, or `~user/…`. Never begins with `-`. */
  path: string;
  url: string;
}

export interface HttpUrl {
  kind: 'http';
  url: string;
}

export type RemoteUrl = LocalUrl | SshUrl | HttpUrl;

const expected = 'expected the path of a bare repository, host:path, or a URL with file://, ssh:// or https://';

/**
 * A remote as it was typed or stored. Paths, file:// URLs and Windows paths (`C:\…`, `\\server\share`) are local,
 * `host:path` is ssh. A relative path counts from `cwd`.
 *
 * @throws MeshError `invalid_argument` for what starts with `-`, holds control characters, or names a helper (`ext::…`)
 * or a scheme that is not git-mesh's, and for a host, user or path that ssh would take for an option.
 */
export function parseRemoteUrl(text: string, { cwd }: { cwd: string }): RemoteUrl {
  const shown = visibleText(redactUrl(text), { maxLength: 200 });
  const refuse = (why: string): MeshError =>
    new MeshError('invalid_argument', `"${shown}" is no usable remote: ${why}; ${expected}`);

  if (text.trim() === '') throw refuse('it is empty');
  if (hasUnseen(text)) throw refuse('it holds control or invisible characters');
  if (text.startsWith('-')) throw refuse('it starts with "-" and would read as an option (write ./ before a path)');
  const invitation = invitationAmong(text);
  if (invitation !== null) throw refuse(invitation);
  if (isWindowsPath(text)) return { kind: 'local', path: win32.normalize(text), url: text };
  if (/^[A-Za-z0-9+.-]*::/.test(text)) throw refuse('it names a remote helper');

  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//.exec(text)?.[1]?.toLowerCase();
  switch (scheme) {
    case undefined:
      break;
    case 'file':
      return { kind: 'local', path: filePath(text, refuse), url: text };
    case 'ssh':
    case 'git+ssh':
    case 'ssh+git':
      return parseSshUrl(text, refuse);
    case 'http':
    case 'https':
      return parseHttpUrl(text, refuse);
    default:
      throw refuse(`it has the scheme ${scheme}://`);
  }
  // git's rule for host:path: a colon before the first slash.
  const colon = text.indexOf(':');
  const slash = text.search(/[/\\]/);
  if (colon >= 0 && (slash < 0 || colon < slash)) {
    // A drive without a separator: a folder that depends on where we were started, and never what was meant.
    if (process.platform === 'win32' && colon === 1)
      throw refuse('it is relative to a drive (write C:\\ with a backslash)');
    const remote = parseScpLike(text, refuse);
    if (remote === null) throw refuse('it reads neither as host:path nor as a path (write ./ before a path)');
    return remote;
  }
  const path = resolve(cwd, text);
  return { kind: 'local', path, url: path };
}

/**
 * Why a location with an invitation in it cannot be used, or null. Whatever looks like one is masked wherever it is shown,
 * so that nobody could be told how to join there. It may have been made absolute where it was typed.
 */
function invitationAmong(text: string): string | null {
  const names = text.replace(/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^\\/]*/, '').split(/[\\/]/);
  const one = names.find((name) => mayBeInviteCode(name));
  if (one === undefined) return null;
  try {
    decodeInviteCode(one);
    return 'it is an invitation, which `git mesh join CODE` takes and nothing else does';
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    return (
      'a name in it looks like an invitation, which is a secret and never shown whole, so that no machine could be told how ' +
      'to join there; rename that folder and use its new name (an invitation itself is for `git mesh join CODE`)'
    );
  }
}

/** Whether two stored URLs surely lead to one repository. Two that do not look alike may still do. */
export function sameRepository(a: string, b: string): boolean {
  return repositoryKey(a) === repositoryKey(b);
}

function repositoryKey(url: string): string {
  const parsed = parseRemoteUrl(url, { cwd: '/' });
  const bare = (path: string): string => path.replace(/[\\/]+$/, '').replace(/\.git$/, '');
  switch (parsed.kind) {
    case 'local':
      return JSON.stringify(['local', parsed.path.replace(/(?<=.)[\\/]+$/, '')]);
    case 'ssh':
      return JSON.stringify(['ssh', parsed.user, parsed.host.toLowerCase(), parsed.port ?? 22, bare(parsed.path)]);
    case 'http': {
      const { protocol, host, pathname } = new URL(parsed.url);
      return JSON.stringify([protocol, host, bare(pathname)]);
    }
  }
}

/** `url` as it may be shown: without user and password, and without tokens. */
export function redactUrl(url: string): string {
  // The user of an ssh remote is no secret, and needed to reach it; user:password@host is one.
  const [, start, rest] = /^((?:ssh|git\+ssh|ssh\+git):\/\/[^\s/@:]{1,100}@)(.*)$/is.exec(url) ?? [];
  if (start !== undefined && rest !== undefined)
    return visibleText(start, { maxLength: 200 }) + redact(rest, { maxLength: 2_000 });
  return redact(url.replace(/^([^\s/@:]+):[^\s/@]+@/, '***@'), { maxLength: 2_000 });
}

/** A drive with a separator, or UNC. On other systems too: there it names nothing that could be confused with it. */
function isWindowsPath(text: string): boolean {
  return /^[A-Za-z]:[\\/]/.test(text) || /^\\\\[^\\]/.test(text);
}

function filePath(text: string, refuse: (why: string) => MeshError): string {
  let path: string;
  try {
    const url = new URL(text);
    if (url.search !== '' || url.hash !== '') throw refuse('a file:// URL has no ? and no # (write %3F and %23)');
    path = fileURLToPath(url);
  } catch (error) {
    if (error instanceof MeshError) throw error;
    // Both throw TypeError for what they cannot read: a host on POSIX, an encoded slash, a bad escape.
    if (error instanceof TypeError) throw refuse('it is no file:// URL of this machine (as in file:///srv/mesh.git)');
    throw error;
  }
  if (hasUnseen(path)) throw refuse('it holds control or invisible characters');
  if (!posix.isAbsolute(path) && !win32.isAbsolute(path)) throw refuse('its path is not absolute');
  return path;
}
