import { MeshError, type Connection, type Logger } from '@git-mesh/core';
import type { OpenMesh, OpenMeshFunction } from '@git-mesh/sync';

export interface OpenedMesh {
  mesh: OpenMesh;
  connection: Connection;
}

export interface MeshSessionOptions {
  dir: string;
  env: Readonly<Record<string, string | undefined>>;
  logger: Logger;
  openMesh: OpenMeshFunction;
}

/** The mesh as one client's connection uses it. */
export interface MeshUse {
  /** @throws MeshError as {@link MeshSession.use} */
  use(): Promise<OpenedMesh>;
}

/**
 * The mesh of one process, which opens it once for all clients that it serves. Nothing is opened, locked or written before the first {@link MeshSession.use}:
 * clients start servers only to look at their tools.
 */
export class MeshSession {
  readonly #options: MeshSessionOptions;
  #opening: Promise<OpenMesh> | null = null;
  #closed = false;

  constructor(options: MeshSessionOptions) {
    this.#options = options;
  }

  /**
   * The open mesh with its worker running; calls at once share one. After a failure the next call tries again, so that
   * a mesh made in the meantime is found.
   * @throws MeshError as `openMesh` does; `cancelled` after {@link MeshSession.close}.
   */
  async use(): Promise<OpenMesh> {
    if (this.#closed) throw new MeshError('cancelled', 'the server is shutting down, nothing was done; start it again');
    this.#opening ??= this.#open();
    const opening = this.#opening;
    try {
      return await opening;
    } catch (error) {
      // Another call may have begun a new attempt by now.
      if (this.#opening === opening) this.#opening = null;
      throw error;
    }
  }

  async #open(): Promise<OpenMesh> {
    const { openMesh, dir, env, logger } = this.#options;
    const mesh = await openMesh({ dir, env, logger });
    mesh.startWorker();
    return mesh;
  }

  /** The use of it by one client, which alone knows the agents that checked in over it. */
  connect(): MeshUse {
    let connection: Connection | null = null;
    return {
      use: async () => {
        const mesh = await this.use();
        connection ??= mesh.newConnection({ resident: true });
        return { mesh, connection };
      },
    };
  }

  /** Stops the worker and releases everything, also where an opening is still under way. Safe to call twice. */
  async close(): Promise<void> {
    this.#closed = true;
    const opening = this.#opening;
    this.#opening = null;
    if (opening === null) return;
    const opened = await opening.catch((error: unknown) => {
      // Whoever asked for it was told; there is nothing to close.
      this.#options.logger.debug(`closing: the mesh had not been opened: ${String(error)}`);
      return null;
    });
    await opened?.close();
  }
}
