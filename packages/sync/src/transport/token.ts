import type { Env } from '../git-env.js';

/** A token of the environment for one host. */
export interface Token {
  token: string;
  /** Null where none is named. */
  username: string | null;
  /** The variable's name, for the words of a refusal. */
  source: `GIT_MESH_TOKEN${string}`;
}

/**
 * What the environment has for the URL's host: GIT_MESH_TOKEN_HOST, which is for that host alone, else GIT_MESH_TOKEN.
 * Null where there is none, and for plain http to another machine, where anybody on the way could read it.
 */
export function tokenFor(url: URL, env: Env): Token | null {
  if (url.protocol !== 'https:' && !isLoopback(url.hostname)) return null;
  for (const suffix of [`_${hostSuffix(url)}`, '']) {
    const source = `GIT_MESH_TOKEN${suffix}` as const;
    const token = env[source] ?? '';
    const username = env[`GIT_MESH_USERNAME${suffix}`] ?? '';
    if (token !== '') return { token, username: username === '' ? null : username, source };
  }
  return null;
}

/**
 * The environment for the remotes of one store. GIT_MESH_TOKEN is one host's secret: where they are on several hosts,
 * none of them gets it, since it cannot be told whose it is. GIT_MESH_TOKEN_HOST stays.
 */
export function envForHosts(env: Env, urls: readonly string[]): Env {
  const hosts = new Set(
    urls.filter((url) => /^https?:/i.test(url) && URL.canParse(url)).map((url) => new URL(url).hostname),
  );
  return hosts.size < 2 ? env : { ...env, GIT_MESH_TOKEN: undefined, GIT_MESH_USERNAME: undefined };
}

/** `git-hub.example.org:8443` as `GIT__HUB_EXAMPLE_ORG_8443`: two hosts never have one name. */
function hostSuffix(url: URL): string {
  return url.host
    .toUpperCase()
    .replace(/[[\]]/g, '')
    .replaceAll('-', '__')
    .replace(/[^A-Z0-9_]/g, '_');
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
