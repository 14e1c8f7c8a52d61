import { MeshError, type Logger } from '@git-mesh/core';
import type { OpenMeshFunction } from '@git-mesh/sync';
import { randomBytes } from 'node:crypto';
import type { SetupFunctions } from '../mesh-setup.js';
import { endServing } from '../end-serving.js';
import { hostProcess, type HostProcess } from '../stdio.js';

export interface RunMcpHttpOptions {
  dir: string;
  env: Readonly<Record<string, string | undefined>>;
  logger: Logger;
  version: string;
  openMesh: OpenMeshFunction;
  setup: () => Promise<SetupFunctions>;
  hostname: string;
  /** 0 for any that is free. */
  port: number;
  /** Where the address and the token are told to whoever started the server, and to nobody else. */
  announce: (text: string) => Promise<void>;
  /** The default is the real process. */
  host?: HostProcess;
}

const tokenVariable = 'GIT_MESH_HTTP_TOKEN';

/**
 * Serves clients over HTTP on loopback until the process is told to end. Nothing of the mesh is opened before the first
 * call that needs it.
 *
 * @throws MeshError `conflict` for a port that is taken, `invalid_argument` for a token that is too easy.
 */
export async function runMcpHttp(options: RunMcpHttpOptions): Promise<void> {
  const { env, logger, announce, host = hostProcess } = options;
  const given = env[tokenVariable];
  const token = given === undefined || given === '' ? randomBytes(24).toString('base64url') : checkedToken(given);
  const ending = new Promise<string>((resolve) => {
    host.onSignal(resolve);
  });
  const { serveHttp } = await import('./serve-http.js');
  const serving = await serveHttp({ ...options, token, platform: host.platform });
  const secret = token === given ? `the token is that of ${tokenVariable}` : `Authorization: Bearer ${token}`;
  await announce(`MCP over HTTP at ${serving.url}\n${secret}\n`);
  const reason = await ending;
  logger.debug(`ending: ${reason}`);
  await endServing(serving, { host });
}

function checkedToken(token: string): string {
  if (/^[!-~]{16,500}$/.test(token)) return token;
  throw new MeshError(
    'invalid_argument',
    `${tokenVariable}: expected 16 to 500 printable ASCII characters without spaces; leave it unset for a random token`,
  );
}
