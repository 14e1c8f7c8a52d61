import type { Readable, Writable } from 'node:stream';
import { LineTransport } from './line-transport.js';
import type { SetupFunctions } from './mesh-setup.js';
import type { MeshSession, MeshSessionOptions } from './mesh-session.js';
import { createServer } from './server.js';
import type { ToolCalls } from './tool-calls.js';
import { meshTools } from './tools.js';

export interface ServeStdioOptions extends MeshSessionOptions {
  hostname: string;
  setup: () => Promise<SetupFunctions>;
  stdin: Readable;
  stdout: Writable;
  version: string;
  platform: string;
}

export interface Serving {
  /** Ends all waits and resolves once every call under way has its result. */
  endCalls(): Promise<void>;
  /** Closes the connection and the mesh. */
  close(): Promise<void>;
}

interface Backend {
  session: MeshSession;
  calls: ToolCalls;
}

/** The first tool call loads the mesh's code; a client that only lists the tools does not pay for it. */
async function loadBackend(options: ServeStdioOptions): Promise<Backend> {
  const [{ MeshSession }, { ToolCalls }] = await Promise.all([import('./mesh-session.js'), import('./tool-calls.js')]);
  const session = new MeshSession(options);
  const calls = new ToolCalls({ ...options, session, store: options.dir, now: Date.now });
  return { session, calls };
}

/** The parts of the server put together. Loading this file loads the SDK. */
export async function serveStdio(options: ServeStdioOptions): Promise<Serving> {
  const { version, platform, logger } = options;
  const transport = new LineTransport(options);
  let backend: Promise<Backend> | null = null;
  const server = createServer({
    version,
    tools: meshTools(platform),
    callTool: async (tool, call) => {
      backend ??= loadBackend(options);
      return (await backend).calls.run(tool, call);
    },
    textOf: (id) => transport.takeText(id),
    logger,
  });
  await server.connect(transport);
  return {
    endCalls: async () => (await backend)?.calls.end(),
    close: async () => {
      await server.close();
      await (await backend)?.session.close();
    },
  };
}
