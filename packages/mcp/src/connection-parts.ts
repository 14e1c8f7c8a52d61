import { complete, type Completion } from './completions.js';
import type { SetupFunctions } from './mesh-setup.js';
import type { MeshSession, MeshSessionOptions } from './mesh-session.js';
import { Notices, type Notice } from './notices.js';
import { Subscriptions } from './subscriptions.js';
import { ToolCalls } from './tool-calls.js';

export interface ConnectionPartsOptions extends MeshSessionOptions {
  hostname: string;
  setup: () => Promise<SetupFunctions>;
  notify: (uri: string) => void;
  sendNotice: (notice: Notice) => void;
}

/** What one client's connection does with the mesh. */
export interface ConnectionParts {
  calls: ToolCalls;
  subscriptions: Subscriptions;
  notices: Notices;
  complete: (argument: { name: string; value: string }) => Promise<Completion>;
}

/** Loading this file loads the mesh's code. */
export function connectionParts(mesh: MeshSession, options: ConnectionPartsOptions): ConnectionParts {
  const { dir, notify, sendNotice, logger } = options;
  const own = mesh.connect();
  const notices: Notices = new Notices({ session: { use }, send: sendNotice, logger, now: Date.now });
  let told = false;
  async function use(): ReturnType<typeof own.use> {
    const opened = await own.use();
    if (!told) {
      told = true;
      notices.opened().catch((error: unknown) => {
        logger.debug(`notices: ${String(error)}`);
      });
    }
    return opened;
  }
  const session = { use };
  return {
    calls: new ToolCalls({ ...options, session, store: dir, now: Date.now }),
    subscriptions: new Subscriptions({ session, notify, logger, now: Date.now }),
    notices,
    complete: (argument) => complete(session, argument),
  };
}
