import type { Logger } from '@git-mesh/core';
import type { OpenMeshFunction } from '@git-mesh/sync';
import type { SetupFunctions } from './mesh-setup.js';
import type { Readable, Writable } from 'node:stream';
import { endServing } from './end-serving.js';
import { hostProcess, type HostProcess } from './stdio.js';

export interface RunMcpServerOptions {
  /** The store's folder; there may be no store yet. */
  dir: string;
  env: Readonly<Record<string, string | undefined>>;
  logger: Logger;
  stdin: Readable;
  stdout: Writable;
  /** The product's version, told to the client. */
  version: string;
  /** Called by the first tool call, and again by later ones while there is no mesh. */
  openMesh: OpenMeshFunction;
  /** For the tools that make a mesh or join one. */
  setup: () => Promise<SetupFunctions>;
  /** The default name of this machine in a mesh. */
  hostname: string;
  /** The default is the real process. */
  host?: HostProcess;
}

/**
 * Serves one client over stdin and stdout until it is gone (stdin ends, stdout breaks) or the process is told to end;
 * resolves once the mesh is closed. Then the caller should exit. Nothing is opened or written before the first tool call.
 */
export async function runMcpServer(options: RunMcpServerOptions): Promise<void> {
  const { stdin, logger, host = hostProcess } = options;
  // Before anything else is loaded: a stray line on stdout would break the protocol.
  const stdout = host.claimStdout(options.stdout);
  const ending = new Promise<string>((resolve) => {
    host.onSignal(resolve);
    for (const event of ['end', 'close', 'error'] as const) {
      stdin.on(event, () => {
        resolve(`stdin ${event}`);
      });
    }
    for (const event of ['close', 'error'] as const) {
      stdout.on(event, () => {
        resolve(`stdout ${event}`);
      });
    }
  });
  if ('isTTY' in stdin && stdin.isTTY === true) {
    logger.info('This is an MCP server: an agent starts it and talks to it over stdin. Ctrl-C ends it.');
  }

  const { serveStdio } = await import('./serve-stdio.js');
  const serving = await serveStdio({ ...options, stdout, platform: host.platform });
  const reason = await ending;
  logger.debug(`ending: ${reason}`);
  await endServing(serving, { host, flushed: () => flushed(stdout) });
}

/** Resolves once everything written so far is handed over, or cannot be any more. */
function flushed(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || stream.writableLength === 0) resolve();
    else {
      stream.once('close', resolve);
      stream.write('', () => {
        resolve();
      });
    }
  });
}
