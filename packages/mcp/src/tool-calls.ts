import {
  errorResult,
  jsonLoss,
  lossText,
  MeshError,
  systemFailure,
  visibleText,
  type CallOptions,
  type Logger,
} from '@git-mesh/core';
import type { MeshSession } from './mesh-session.js';
import type { MeshTool, TextContext } from './mesh-tool.js';
import { noMeshAdvice } from './no-mesh.js';
import { internalErrorResult, meshErrorResult, type ToolResult } from './tool-error.js';

export interface ToolCall {
  /** As the client sent them. */
  args: unknown;
  /** The whole request as it was written, for what parsing it lost. */
  text?: string | undefined;
  /** The client's cancellation. */
  signal: AbortSignal;
  /** Set where the client asked to hear how a wait goes on. */
  onProgress?: ((waitedSeconds: number) => void) | undefined;
}

export interface ToolCallsOptions {
  session: MeshSession;
  /** The store's folder, shown to its own user by agent_mesh_status. */
  store: string;
  logger: Logger;
  now: () => number;
}

/** Carries out tool calls: opens the mesh for them, turns what fails into results, and can end them all. */
export class ToolCalls {
  readonly #options: ToolCallsOptions;
  readonly #running = new Map<Promise<ToolResult>, AbortController>();

  constructor(options: ToolCallsOptions) {
    this.#options = options;
  }

  /** Never rejects: a failure is a result too. */
  run(tool: MeshTool, call: ToolCall): Promise<ToolResult> {
    // A controller a call, not one signal for all: listeners on a signal that lives as long as the server would pile up.
    const controller = new AbortController();
    const cancel = (): void => {
      controller.abort();
    };
    if (call.signal.aborted) cancel();
    call.signal.addEventListener('abort', cancel, { once: true });
    const result = this.#result(tool, call, controller.signal).finally(() => {
      call.signal.removeEventListener('abort', cancel);
      this.#running.delete(result);
    });
    this.#running.set(result, controller);
    return result;
  }

  /** Ends every wait; resolves once all calls have their results. */
  async end(): Promise<void> {
    for (const controller of this.#running.values()) controller.abort();
    await Promise.all(this.#running.keys());
  }

  async #result(tool: MeshTool, call: ToolCall, signal: AbortSignal): Promise<ToolResult> {
    const context: TextContext = {
      visible: (text, maxLength) => visibleText(text, maxLength === undefined ? {} : { maxLength }),
      nowMs: this.#options.now(),
    };
    try {
      const result = await this.#carryOut(tool, call, signal);
      // The wait may have been long: ages are told from its end.
      const lines = tool.text(result, { ...context, nowMs: this.#options.now() }).split('\n');
      // The last look: whatever a tool let through, nothing but line breaks acts or hides in what goes out.
      const text = lines.map((line) => context.visible(line)).join('\n');
      return { content: [{ type: 'text', text }], structuredContent: { ...result } };
    } catch (error) {
      if (error instanceof MeshError) return meshErrorResult(error, errorResult(error), context);
      this.#options.logger.warn(
        `${tool.name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
      );
      const refused = systemFailure(error);
      if (refused !== null) return meshErrorResult(refused, errorResult(refused), context);
      return internalErrorResult(tool.name);
    }
  }

  async #carryOut(tool: MeshTool, { args, text, onProgress }: ToolCall, signal: AbortSignal): Promise<object> {
    try {
      const { mesh, connection } = await this.#options.session.use();
      const loss = text === undefined ? null : jsonLoss(text);
      if (loss !== null) throw new MeshError('invalid_argument', `nothing was done: ${lossText(loss)}`);
      const options: CallOptions = { connection, signal, ...(onProgress === undefined ? {} : { onProgress }) };
      return await tool.call(mesh.api, args, options);
    } catch (error) {
      if (!(error instanceof MeshError) || error.errorName !== 'no_mesh') throw error;
      if (tool.withoutMesh !== undefined) {
        return tool.withoutMesh({ store: this.#options.store, advice: noMeshAdvice }, args);
      }
      throw new MeshError('no_mesh', noMeshAdvice, { cause: error });
    }
  }
}
