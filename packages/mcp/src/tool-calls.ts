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
import type { MeshUse } from './mesh-session.js';
import type { SetupFunctions } from './mesh-setup.js';
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
  session: MeshUse;
  /** The store's folder, shown to its own user by agent_mesh_status. */
  store: string;
  logger: Logger;
  now: () => number;
  env: Readonly<Record<string, string | undefined>>;
  hostname: string;
  setup: () => Promise<SetupFunctions>;
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

  async #carryOut(tool: MeshTool, call: ToolCall, signal: AbortSignal): Promise<object> {
    if ('setUp' in tool) return this.#setUp(tool, call);
    try {
      const { mesh, connection } = await this.#options.session.use();
      refuseLoss(call);
      const { args, onProgress } = call;
      const options: CallOptions = { connection, signal, ...(onProgress === undefined ? {} : { onProgress }) };
      return await tool.call(mesh.api, args, options);
    } catch (error) {
      if (!isNoMesh(error)) throw error;
      if (tool.withoutMesh !== undefined) {
        return tool.withoutMesh({ store: this.#options.store, advice: noMeshAdvice }, call.args);
      }
      throw new MeshError('no_mesh', noMeshAdvice, { cause: error });
    }
  }

  async #setUp(tool: Extract<MeshTool, { setUp: unknown }>, call: ToolCall): Promise<object> {
    const { setup, session, store, env, logger, hostname } = this.#options;
    const hadMesh = await this.#hasMesh();
    refuseLoss(call);
    const functions = await setup();
    const result = await tool.setUp({ ...functions, dir: store, env, logger, hostname, hasMesh: hadMesh }, call.args);
    // The worker goes on from here, and a failure of it is the next call's to tell: this one did what it was for.
    if (!hadMesh) await session.use().catch(noted(logger));
    return result;
  }

  async #hasMesh(): Promise<boolean> {
    try {
      await this.#options.session.use();
      return true;
    } catch (error) {
      if (isNoMesh(error)) return false;
      throw error;
    }
  }
}

/** @throws MeshError `invalid_argument` where reading the request lost something of it. */
function refuseLoss({ text }: ToolCall): void {
  const loss = text === undefined ? null : jsonLoss(text);
  if (loss !== null) throw new MeshError('invalid_argument', `nothing was done: ${lossText(loss)}`);
}

const isNoMesh = (error: unknown): error is MeshError => error instanceof MeshError && error.errorName === 'no_mesh';

const noted =
  (logger: Logger) =>
  (error: unknown): void => {
    logger.debug(`the mesh is not open yet: ${String(error)}`);
  };
