import { posix, resolve, win32 } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hasUnseen, MeshError, visibleText } from '@git-mesh/core';
import { redact } from './redact.js';

export interface LocalUrl {
  kind: 'local';
  /** Absolute. */
  path: string;
  /** What is stored and shown; equal to `path`, or the file:// URL as it was given. */
  url: string;
}

export interface SshUrl {
  kind: 'ssh';
  user: string | null;
  host: string;
  port: number | null;
  path: string;
  url: string;
}

export interface HttpUrl {
  kind: 'http';
  url: string;
}

export type RemoteUrl = LocalUrl | SshUrl | HttpUrl;

const expected = 'expected the path of a bare repository, or a file:// URL of one';

/**
 * A remote as it was typed or stored. Paths, file:// URLs and Windows paths (`C:\…`, `\\server\share`) are local,
 * `host:path` is ssh. A relative path counts from `cwd`.
 *
 * @throws MeshError `invalid_argument` for what starts with `-`, holds control characters, or names a helper (`ext::…`)
 * or a scheme that is not git-mesh's; for ssh and http remotes, which this version does not speak to.
 */
export function parseRemoteUrl(text: string, { cwd }: { cwd: string }): RemoteUrl {
  const shown = visibleText(redactUrl(text), { maxLength: 200 });
  const refuse = (why: string): MeshError =>
    new MeshError('invalid_argument', `"${shown}" is no usable remote: ${why}; ${expected}`);

  if (text.trim() === '') throw refuse('it is empty');
  if (hasUnseen(text)) throw refuse('it holds control or invisible characters');
  if (text.startsWith('-')) throw refuse('it starts with "-" and would read as an option (write ./ before a path)');
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
    case 'http':
    case 'https':
      throw refuse('this version speaks to a path or file:// only');
    default:
      throw refuse(`it has the scheme ${scheme}://`);
  }
  // git's rule for host:path: a colon before the first slash.
  const colon = text.indexOf(':');
  const slash = text.search(/[/\\]/);
  if (colon >= 0 && (slash < 0 || colon < slash)) {
    throw refuse('host:path is ssh, and this version speaks to a path or file:// only (write ./ before a path)');
  }
  const path = resolve(cwd, text);
  return { kind: 'local', path, url: path };
}

/** `url` as it may be shown: without user and password, and without tokens. */
export function redactUrl(url: string): string {
  // scp-like user@host:path keeps its user, which is no secret; user:password@host does not.
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
