import { BlockList, isIP } from 'node:net';
import { MeshError } from '@git-mesh/core';
import type { Env } from '../git-env.js';

/**
 * The proxy through which `url` is asked for; null for none. As git and curl have it: `configured` (`http.proxy`, an
 * empty one meaning none) goes before HTTPS_PROXY or HTTP_PROXY (by the URL's scheme), these before ALL_PROXY, and
 * NO_PROXY takes hosts out. Lower case goes before upper case.
 *
 * @throws MeshError `invalid_argument` for a proxy that is not http(s).
 */
export function proxyFor(url: URL, options: { env: Env; configured: string | null }): URL | null {
  const { env, configured } = options;
  const wanted = configured ?? variable(env, url.protocol === 'https:' ? 'https_proxy' : 'http_proxy', 'all_proxy');
  if (wanted === null || wanted === '') return null;
  if (isExempt(url, variable(env, 'no_proxy') ?? '')) return null;
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(wanted) ? wanted : `http://${wanted}`;
  const proxy = URL.canParse(text) ? new URL(text) : null;
  if (proxy === null || proxy.hostname === '' || !['http:', 'https:'].includes(proxy.protocol)) {
    const scheme = proxy === null ? 'no URL' : `${proxy.protocol}//`;
    throw new MeshError(
      'invalid_argument',
      `the proxy that is set for this remote is ${scheme}: expected http://host:port or https://host:port (see HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and git's http.proxy; NO_PROXY takes a host out)`,
    );
  }
  return proxy;
}

/** The header that the proxy's own user and password make; null where its URL has none. */
export function proxyAuthorization(proxy: URL): string | null {
  if (proxy.username === '' && proxy.password === '') return null;
  const pair = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return `Basic ${Buffer.from(pair, 'utf8').toString('base64')}`;
}

/** The proxy as it may be shown. */
export function proxyName(proxy: URL): string {
  return proxy.host;
}

function variable(env: Env, ...names: string[]): string | null {
  for (const name of names) {
    const value = env[name] ?? env[name.toUpperCase()];
    if (value !== undefined && value !== '') return value.trim();
  }
  return null;
}

/** `*`, a host with its subdomains (with or without a leading dot), an address, a network such as 10.0.0.0/8; each with `:port` or without. */
function isExempt(url: URL, list: string): boolean {
  const host = url.hostname.toLowerCase().replace(/^\[|\]$/g, '');
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => entry === '*' || matches(entry, host, port));
}

function matches(entry: string, host: string, port: string): boolean {
  const [name, only] = hostAndPort(entry);
  if (only !== null && only !== port) return false;
  const [network = '', bits] = name.split('/');
  if (bits !== undefined) return inNetwork(host, network, Number(bits));
  const domain = name.replace(/^\*?\.|\.$/g, '');
  return domain !== '' && (host === domain || (isIP(host) === 0 && host.endsWith(`.${domain}`)));
}

/** A bare IPv6 address holds colons, but no port. */
function hostAndPort(entry: string): [string, string | null] {
  const bracketed = /^\[([^\]]*)\](?::(\d+))?$/.exec(entry);
  if (bracketed !== null) return [bracketed[1] ?? '', bracketed[2] ?? null];
  const plain = /^([^:]*):(\d+)$/.exec(entry);
  return plain === null ? [entry, null] : [plain[1] ?? '', plain[2] ?? null];
}

function inNetwork(host: string, network: string, bits: number): boolean {
  const family = isIP(network);
  const longest = family === 4 ? 32 : 128;
  if (family === 0 || isIP(host) !== family || !Number.isInteger(bits) || bits < 0 || bits > longest) return false;
  const type = family === 4 ? 'ipv4' : 'ipv6';
  const networks = new BlockList();
  networks.addSubnet(network, bits, type);
  return networks.check(host, type);
}
