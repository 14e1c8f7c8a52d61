import type { CallOptions, MeshApi } from '@git-mesh/core';
import type { ObjectSchema } from './json-schema.js';
import type { MeshSetup } from './mesh-setup.js';

/** All four are always given: a client takes a missing one for the worst case. */
interface ToolAnnotations {
  /** Changes nothing that others see. Renewing the caller's own presence is bookkeeping and does not count. */
  readOnlyHint: boolean;
  /** May take something away, not only add. */
  destructiveHint: boolean;
  /** A second call with the same arguments changes nothing more. */
  idempotentHint: boolean;
  /** Gives out text that strangers wrote, or reaches them. */
  openWorldHint: boolean;
}

/** What a text form is made with. It is passed in so that listing the tools loads none of the mesh's code. */
export interface TextContext {
  /** One line in which nothing is hidden and nothing acts on a terminal; cut to `maxLength` characters. */
  visible: (text: string, maxLength?: number) => string;
  /** Milliseconds since 1970, for ages. */
  nowMs: number;
}

interface ToolFacts<Result extends object> {
  readonly name: string;
  readonly title: string;
  /** Under 2 KB: clients cut it there. */
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  /** Covers every form of the result, the error form too: strict clients validate that as well. */
  readonly outputSchema: ObjectSchema;
  readonly annotations: ToolAnnotations;
  text(result: Result, context: TextContext): string;
}

/** A use case of {@link MeshApi}. */
interface UseCaseTool<Result extends object> extends ToolFacts<Result> {
  call(api: MeshApi, args: unknown, call: CallOptions): Promise<Result>;
  /** The result where there is no mesh yet; a tool without it fails with `no_mesh`. */
  withoutMesh?(facts: { store: string; advice: string }, args: unknown): Promise<Result>;
}

/** Makes a mesh or joins one. */
interface SetupTool<Result extends object> extends ToolFacts<Result> {
  setUp(setup: MeshSetup, args: unknown): Promise<Result>;
}

/**
 * One tool with what a client is told of it. `call` and `setUp` get the arguments unparsed and give what becomes
 * structuredContent; `text` says the same facts shortly.
 */
export type MeshTool<Result extends object = object> = UseCaseTool<Result> | SetupTool<Result>;
