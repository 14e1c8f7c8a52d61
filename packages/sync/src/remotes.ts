import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { MeshError, errnoOf, visibleText } from '@git-mesh/core';
import { writeGitConfig } from './git-env.js';
import type { Env } from './git-env.js';
import { refuseToStoreSecret } from './http-url.js';
import type { Remote } from './remote-context.js';
import { parseRemoteUrl, redactUrl } from './remote-url.js';
import { envForHosts } from './transport/token.js';
import { transportFor } from './transport/transport-for.js';

/** The ways to a store's remotes. `stateDir` is a folder of ours for the configuration that local git processes get. */
export async function openRemotes(options: {
  remotes: readonly { name: string; url: string }[];
  stateDir: string;
  env: Env;
  /** URLs of further remotes of the same store. */
  besides?: readonly string[];
}): Promise<Remote[]> {
  if (options.remotes.length === 0) return [];
  const parsed = options.remotes.map(({ name, url }) => ({ name, to: parseRemoteUrl(url, { cwd: options.stateDir }) }));
  const globalConfig = join(options.stateDir, 'gitconfig');
  // Once for all of them, and two processes that most have no need for.
  let written: Promise<unknown> | null = null;
  const writeConfig = (): Promise<unknown> => {
    written ??= writeGitConfig({ file: globalConfig, env: options.env }).catch((error: unknown) => {
      written = null;
      throw error;
    });
    return written;
  };
  const env = envForHosts(options.env, [...options.remotes.map(({ url }) => url), ...(options.besides ?? [])]);
  return Promise.all(
    parsed.map(async ({ name, to }) => ({
      name,
      url: to.url,
      transport: await transportFor(to, { env, globalConfig, writeConfig }),
    })),
  );
}

/** The way to a remote before there is a store. */
export interface SetupRemote {
  transport: Remote['transport'];
  url: string;
  /** For people: without credentials. */
  shown: string;
  /** What a mesh founded there is called. */
  name: string;
  /** Ends its use. */
  dispose: () => Promise<void>;
}

/** `besides` are the URLs of the remotes that the store has already. */
export async function setupTransport(
  url: string,
  env: Env,
  { besides = [] }: { besides?: readonly string[] } = {},
): Promise<SetupRemote> {
  const parsed = parseRemoteUrl(url, { cwd: process.cwd() });
  if (parsed.kind === 'http') refuseToStoreSecret(parsed.url);
  // Holds the configuration of the git processes for as long as the transport is used.
  const stateDir = await temporaryFolder();
  const dispose = (): Promise<void> => rm(stateDir, { recursive: true, force: true });
  try {
    const [remote] = await openRemotes({ remotes: [{ name: 'origin', url: parsed.url }], stateDir, env, besides });
    if (remote === undefined) throw new Error('one remote was asked for');
    // The folder's last part names the mesh; a bare repository's `.git` says nothing.
    const last = basename(parsed.kind === 'http' ? parsed.url : parsed.path).replace(/\.git$/, '');
    const name = visibleText(last === '' ? 'mesh' : last, { maxLength: 100 });
    return { transport: remote.transport, url: remote.url, shown: redactUrl(remote.url), name, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

async function temporaryFolder(): Promise<string> {
  try {
    return await mkdtemp(join(tmpdir(), 'git-mesh-'));
  } catch (error) {
    const code = errnoOf(error);
    if (code === undefined) throw error;
    const full = code === 'ENOSPC' || code === 'EDQUOT';
    throw new MeshError(
      full ? 'disk_full' : 'read_only',
      `no folder could be made in ${tmpdir()} (${code}), where git's configuration is put for the while: nothing was stored; ${full ? 'free some space' : 'make it writable, or name another one in TMPDIR'} and try again`,
      { cause: error },
    );
  }
}
