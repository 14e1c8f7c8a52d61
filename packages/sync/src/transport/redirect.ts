import { MeshError } from '@git-mesh/core';
import { redact } from '../redact.js';

/** Each at most once too often: hosts that redirect do so once or twice. */
export const maxRedirects = 5;

/**
 * Where the repository is after a redirect of `asked` (its address with `suffix`, as in `/info/refs?service=…`) to
 * `location`: an address on the same host that leads to the same thing. Only from http to https may the scheme and port
 * change, so that no credential and no request goes to anybody but the host that the user named.
 *
 * @throws MeshError `protocol_error` for any other, with where it led.
 */
export function redirectedBase(asked: URL, location: string | undefined, suffix: string): URL {
  const target = location !== undefined && URL.canParse(location, asked.href) ? new URL(location, asked) : null;
  if (target === null) throw new MeshError('protocol_error', 'the remote redirects to nowhere (no Location)');
  target.username = '';
  target.password = '';
  target.hash = '';
  const shown = redact(`${target.origin}${target.pathname}`, { maxLength: 200 });
  if (!sameHost(asked, target)) {
    throw new MeshError(
      'protocol_error',
      `the remote redirects to ${shown}, which is another host or less safe: git-mesh goes there only where you name it as the remote yourself`,
    );
  }
  if (!target.href.endsWith(suffix)) {
    throw new MeshError(
      'protocol_error',
      `the remote redirects to ${shown}, which is no git service (a login page, perhaps): expected the address of a repository`,
    );
  }
  return new URL(target.href.slice(0, -suffix.length));
}

function sameHost(from: URL, to: URL): boolean {
  if (from.hostname !== to.hostname) return false;
  if (from.protocol === to.protocol) return from.port === to.port;
  return from.protocol === 'http:' && to.protocol === 'https:' && from.port === '' && to.port === '';
}
