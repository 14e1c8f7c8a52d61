import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { visibleText } from '@git-mesh/core';
import { writeGitConfig } from './git-env.js';
import type { Env } from './git-env.js';
import { refuseToStoreSecret } from './http-url.js';
import type { Remote } from './remote-context.js';
import { parseRemoteUrl, redactUrl } from './remote-url.js';
import { transportFor } from './transport/transport-for.js';

/** The ways to a store's remotes. `stateDir` is a folder of ours for the configuration that local git processes get. */
export async function openRemotes(options: {
  remotes: readonly { name: string; url: string }[];
  stateDir: string;
  env: Env;
}): Promise<Remote[]> {
  if (options.remotes.length === 0) return [];
  const globalConfig = await writeGitConfig({ file: join(options.stateDir, 'gitconfig'), env: options.env });
  return options.remotes.map(({ name, url }) => {
    const parsed = parseRemoteUrl(url, { cwd: options.stateDir });
    return { name, url: parsed.url, transport: transportFor(parsed, { env: options.env, globalConfig }) };
  });
}

/** The way to a remote before there is a store. `shown` is for people and holds no credentials. */
export async function setupTransport(
  url: string,
  env: Env,
): Promise<{ transport: Remote['transport']; url: string; shown: string; name: string }> {
  const stateDir = await mkdtemp(join(tmpdir(), 'git-mesh-'));
  try {
    const parsed = parseRemoteUrl(url, { cwd: process.cwd() });
    if (parsed.kind === 'http') refuseToStoreSecret(parsed.url);
    const [remote] = await openRemotes({ remotes: [{ name: 'origin', url: parsed.url }], stateDir, env });
    if (remote === undefined) throw new Error('one remote was asked for');
    // The folder's last part names the mesh; a bare repository's `.git` says nothing.
    const name = basename(parsed.kind === 'http' ? parsed.url : parsed.path).replace(/\.git$/, '') || 'mesh';
    return {
      transport: remote.transport,
      url: remote.url,
      shown: redactUrl(remote.url),
      name: visibleText(name, { maxLength: 100 }),
    };
  } finally {
    await rm(stateDir, { recursive: true, force: true });
  }
}
