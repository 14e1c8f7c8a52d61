import { join } from 'node:path';
import { HttpGitServer, noSshd, Sshd } from '@git-mesh/sync/testing';
import { cleanEnvironment, type Environment } from '../environment.js';
import { bareRemote, stockGit } from '../stock-git.js';

/** Two repositories of the same kind as machines reach them. */
export interface WakeRemotes {
  mesh: string;
  rival: string;
  /** What a process needs to reach it. */
  env: Environment;
  close(): Promise<void>;
}

function hub(root: string, name: string): string {
  const path = bareRemote(root, name);
  // Housekeeping falls on runs at random.
  stockGit(['config', 'gc.auto', '0'], { cwd: path });
  stockGit(['config', 'receive.autogc', 'false'], { cwd: path });
  return path;
}

const names = { mesh: 'mesh.git', rival: 'rival.git' };
const hubs = (root: string): typeof names => ({ mesh: hub(root, names.mesh), rival: hub(root, names.rival) });

async function overSsh(root: string): Promise<WakeRemotes> {
  const { mesh, rival } = hubs(root);
  const sshd = await Sshd.start(join(root, 'sshd'));
  const env = { GIT_SSH_COMMAND: sshd.command() };
  return { mesh: sshd.url(mesh), rival: sshd.url(rival), env, close: () => sshd.stop() };
}

async function overHttp(root: string): Promise<WakeRemotes> {
  hubs(root);
  const server = await HttpGitServer.start({ root, env: cleanEnvironment(root) });
  const close = (): Promise<void> => server.close();
  return { mesh: server.url(names.mesh), rival: server.url(names.rival), env: {}, close };
}

/** New repositories under `root`, by each way that can be had on this machine. */
export const wakeRemotes: Readonly<Record<string, (root: string) => Promise<WakeRemotes>>> = {
  'a local path': (root) => Promise.resolve({ ...hubs(root), env: {}, close: () => Promise.resolve() }),
  ...(noSshd === null ? { ssh: overSsh } : {}),
  http: overHttp,
};
