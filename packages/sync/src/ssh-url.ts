import { hasUnseen } from '@git-mesh/core';
import type { MeshError } from '@git-mesh/core';
import type { SshUrl } from './remote-url.js';

type Refuse = (why: string) => MeshError;

/** What ssh itself refuses in newer versions: its configuration may hand a host or a user to a shell (ProxyCommand %h). */
const shellCharacters = /[\s'"`$\\;&<>|(){}]/;
const shellCharactersInUser = /[\s'"`;&<>|(){}]|\\$/;

/**
 * `ssh://[user@]host[:port]/path`, percent-encoded as git reads it; `/~user/path` counts from that user's home.
 * @throws what `refuse` makes of the reason.
 */
export function parseSshUrl(text: string, refuse: Refuse): SshUrl {
  const [, authority = '', rest = ''] = /^[^:]+:\/\/([^/]*)(.*)$/s.exec(text) ?? [];
  const at = authority.lastIndexOf('@');
  const host = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(authority.slice(at + 1));
  if (host === null) throw refuse('its host and port cannot be read (as in host:22 or [::1]:22)');
  const [, name = '', digits] = host;
  if (at >= 0 && authority.slice(0, at).includes(':')) throw refuse('ssh takes no password in a URL (use a key)');
  const path = decoded(rest, refuse);
  return checked(
    {
      user: at < 0 ? null : decoded(authority.slice(0, at), refuse),
      host: decoded(withoutBrackets(name), refuse),
      // git takes `host:` for the default port.
      port: digits === undefined || digits === '' ? null : Number(digits),
      path: path.startsWith('/~') ? path.slice(1) : path,
      url: text,
    },
    refuse,
  );
}

/**
 * `[user@]host:path` as scp writes it, with `[::1]:path` and `[host:port]:path`; null where `text` has not that form:
 * git's rule is a colon before the first slash.
 * @throws what `refuse` makes of the reason.
 */
export function parseScpLike(text: string, refuse: Refuse): SshUrl | null {
  const bracketed = /^(?:([^[\]/@]*)@)?\[([^\]/]*)\]:(.*)$/s.exec(text);
  const plain = /^(?:([^:/\\]*)@)?([^:/\\@]*):(.*)$/s.exec(text);
  const [, user, inside = '', path = ''] = bracketed ?? plain ?? [];
  if (bracketed === null && plain === null) return null;
  // One colon ends a host's name; an IPv6 address has more.
  const [, host = inside, digits] = (bracketed === null ? null : /^([^:]+):(\d+)$/.exec(inside)) ?? [];
  if (bracketed === null && /^[^/]*@[^/]*:/.test(path)) throw refuse('ssh takes no password in a URL (use a key)');
  return checked(
    { user: user ?? null, host, port: digits === undefined ? null : Number(digits), path, url: text },
    refuse,
  );
}

function checked(parts: Omit<SshUrl, 'kind'>, refuse: Refuse): SshUrl {
  const { user, host, port, path } = parts;
  if (host === '') throw refuse('it names no host');
  if (host.startsWith('-')) throw refuse('its host starts with "-" and would read as an option');
  if (shellCharacters.test(host) || /[@/]/.test(host) || hasUnseen(host)) throw refuse('its host is no host name');
  if (user !== null) {
    if (user === '') throw refuse('it has an "@" but no user');
    if (user.startsWith('-')) throw refuse('its user starts with "-" and would read as an option');
    if (shellCharactersInUser.test(user) || hasUnseen(user)) throw refuse('its user is no user name');
  }
  if (port !== null && (port < 1 || port > 65_535)) throw refuse('its port is not from 1 to 65535');
  if (path === '') throw refuse('it names no path on the host');
  if (path.startsWith('-')) throw refuse('its path starts with "-" and would read as an option (write ./ before it)');
  if (hasUnseen(path)) throw refuse('its path holds control or invisible characters');
  return { kind: 'ssh', ...parts };
}

function withoutBrackets(host: string): string {
  return host.startsWith('[') ? host.slice(1, -1) : host;
}

function decoded(text: string, refuse: Refuse): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) throw refuse('it holds a % that is no escape (write %25)');
    throw error;
  }
}
