import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { LoggingLevel, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { ConnectionParts, ConnectionPartsOptions } from './connection-parts.js';
import type { MeshSession, MeshSessionOptions } from './mesh-session.js';
import type { SetupFunctions } from './mesh-setup.js';
import { createServer } from './server.js';
import { meshTools } from './tools.js';

export interface ServeOptions extends MeshSessionOptions {
  hostname: string;
  setup: () => Promise<SetupFunctions>;
  version: string;
  platform: string;
}

/** One client's side of the server, over any transport. */
export interface ClientConnection {
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- as in server.ts
  readonly server: Server;
  /** Ends all waits and resolves once every call under way has its result. */
  endCalls(): Promise<void>;
  /** Ends the subscriptions and the connection; the mesh stays. Safe to call twice. */
  close(): Promise<void>;
}

/** The mesh of the process, loaded by the first that needs it: a client that only lists the tools does not pay for it. */
export class LazyMesh {
  readonly #options: MeshSessionOptions;
  #session: Promise<MeshSession> | null = null;

  constructor(options: MeshSessionOptions) {
    this.#options = options;
  }

  load(): Promise<MeshSession> {
    this.#session ??= import('./mesh-session.js').then(({ MeshSession }) => new MeshSession(this.#options));
    return this.#session;
  }

  async close(): Promise<void> {
    await (await this.#session)?.close();
  }
}

export function connectClient(
  options: ServeOptions,
  { mesh, textOf }: { mesh: LazyMesh; textOf: (id: RequestId) => string | undefined },
): ClientConnection {
  const { logger } = options;
  let parts: Promise<ConnectionParts> | null = null;
  let level: LoggingLevel | null = null;
  const sent = (sending: Promise<void>): void => {
    sending.catch((error: unknown) => {
      // The client is going away, which the connection itself notices.
      logger.debug(`notification: ${String(error)}`);
    });
  };
  const notifying: Pick<ConnectionPartsOptions, 'notify' | 'sendNotice'> = {
    notify: (uri) => {
      sent(server.sendResourceUpdated({ uri }));
    },
    sendNotice: ({ level, message }) => {
      sent(server.sendLoggingMessage({ level, logger: 'git-mesh', data: message }));
    },
  };
  const load = async (): Promise<ConnectionParts> => {
    const [session, { connectionParts }] = await Promise.all([mesh.load(), import('./connection-parts.js')]);
    const made = connectionParts(session, { ...options, ...notifying });
    if (level !== null) await made.notices.setLevel(level);
    return made;
  };
  const use = (): Promise<ConnectionParts> => (parts ??= load());
  const server = createServer({
    version: options.version,
    tools: meshTools(options.platform),
    callTool: async (tool, call) => (await use()).calls.run(tool, call),
    subscribe: async (uri) => (await use()).subscriptions.add(uri),
    unsubscribe: async (uri) => {
      (await parts)?.subscriptions.remove(uri);
    },
    complete: async (argument) => (await use()).complete(argument),
    // Clients set it as they connect: that alone loads nothing.
    setLevel: async (wanted) => {
      level = wanted;
      await (await parts)?.notices.setLevel(wanted);
    },
    textOf,
    logger,
  });
  return {
    server,
    endCalls: async () => (await parts)?.calls.end(),
    close: async () => {
      await server.close();
      const loaded = await parts;
      // One that will not end is not waited for.
      void loaded?.calls.end();
      await Promise.all([loaded?.subscriptions.close(), loaded?.notices.close()]);
    },
  };
}
