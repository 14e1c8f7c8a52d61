import type { Readable, Writable } from 'node:stream';
import { connectClient, LazyMesh, type ServeOptions } from './connect-client.js';
import { LineTransport } from './line-transport.js';

export interface ServeStdioOptions extends ServeOptions {
  stdin: Readable;
  stdout: Writable;
}

export interface Serving {
  /** Ends all waits and resolves once every call under way has its result. */
  endCalls(): Promise<void>;
  /** Closes the connections and the mesh. */
  close(): Promise<void>;
}

/** The parts of the server put together. Loading this file loads the SDK. */
export async function serveStdio(options: ServeStdioOptions): Promise<Serving> {
  const transport = new LineTransport(options);
  const mesh = new LazyMesh(options);
  const client = connectClient(options, { mesh, textOf: (id) => transport.takeText(id) });
  await client.server.connect(transport);
  return {
    endCalls: () => client.endCalls(),
    close: async () => {
      await client.close();
      await mesh.close();
    },
  };
}
