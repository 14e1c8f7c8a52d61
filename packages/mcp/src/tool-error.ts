import type { MeshError } from '@git-mesh/core';
import type { TextContext } from './mesh-tool.js';

/** A tool's result as it goes over the wire. */
export interface ToolResult {
  [key: string]: unknown;
  content: { type: 'text'; text: string }[];
  structuredContent: Record<string, unknown>;
  isError?: true;
}

/** What a caller can mend: the same object in both forms, the facts that came with the error included. */
export function meshErrorResult(
  error: MeshError,
  structuredContent: { error: Record<string, unknown> },
  context: TextContext,
): ToolResult {
  const facts = Object.keys(error.data).length === 0 ? '' : `\nDetails: ${context.visible(JSON.stringify(error.data))}`;
  // One line: what a message quotes of others may not begin a line of its own.
  const text = `Error ${error.code} ${error.errorName}: ${context.visible(error.message, 4000)}${facts}`;
  return { content: [{ type: 'text', text }], structuredContent: { ...structuredContent }, isError: true };
}

/** For a bug: nothing of it is told but where to look. */
export function internalErrorResult(toolName: string): ToolResult {
  const message = `${toolName} failed by an internal error; details are in the server log (its stderr). It is not known whether the call had an effect: look before you repeat it.`;
  return {
    content: [{ type: 'text', text: `Error 500 internal: ${message}` }],
    structuredContent: { error: { code: 500, name: 'internal', message } },
    isError: true,
  };
}
