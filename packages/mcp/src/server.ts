import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  SetLevelRequestSchema,
  type LoggingLevel,
  type ProgressToken,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import type { Logger } from '@git-mesh/core';
import { quotedInput } from './quoted-input.js';
import type { Completion } from './completions.js';
import { instructions } from './instructions.js';
import type { MeshTool } from './mesh-tool.js';
import { handlePrompts } from './prompt-requests.js';
import { handleResources } from './resource-requests.js';
import type { ToolCall } from './tool-calls.js';
import type { ToolResult } from './tool-error.js';

export interface MeshServerOptions {
  version: string;
  tools: readonly MeshTool[];
  /** Never rejects. */
  callTool: (tool: MeshTool, call: ToolCall) => Promise<ToolResult>;
  /** Throws a MeshError where it cannot; the address has been checked. */
  subscribe: (uri: string) => Promise<void>;
  unsubscribe: (uri: string) => Promise<void>;
  /** Throws a MeshError where the mesh cannot be read. */
  complete: (argument: { name: string; value: string }) => Promise<Completion>;
  setLevel: (level: LoggingLevel) => Promise<void>;
  /** The text of a tools/call request, where the transport has it. */
  textOf?: (id: RequestId) => string | undefined;
  logger: Logger;
}

/** What is said of a tool in tools/list. */
function listed({ name, title, description, inputSchema, outputSchema, annotations }: MeshTool): {
  [key: string]: unknown;
  name: string;
  inputSchema: { [key: string]: unknown; type: 'object' };
  outputSchema: { [key: string]: unknown; type: 'object' };
} {
  return {
    name,
    title,
    description,
    inputSchema: { ...inputSchema },
    outputSchema: { ...outputSchema },
    annotations: { ...annotations },
  };
}

/** The protocol's side of the server, over any transport. The SDK's own schemas (zod) are not used for the tools. */
// eslint-disable-next-line @typescript-eslint/no-deprecated -- its successor wants zod schemas, ours are the exact JSON Schemas that users know
export function createServer(options: MeshServerOptions): Server {
  const { version, tools, callTool, setLevel, textOf, logger } = options;
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- as above
  const server = new Server(
    { name: 'git-mesh', title: 'git-mesh', version },
    {
      capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {}, logging: {} },
      instructions,
    },
  );
  const list = tools.map(listed);
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  server.onerror = (error) => {
    logger.debug(`protocol: ${error.message}`);
  };
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: list }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const text = textOf?.(extra.requestId);
    const tool = byName.get(params.name);
    if (tool === undefined) {
      const known = tools.map(({ name }) => name).join(', ');
      throw new McpError(ErrorCode.InvalidParams, `unknown tool ${quotedInput(params.name)}; there are: ${known}`);
    }
    const token = extra._meta?.progressToken;
    return callTool(tool, {
      args: params.arguments ?? {},
      text,
      signal: extra.signal,
      onProgress: token === undefined ? undefined : progressReporter(token, extra.sendNotification, logger),
    });
  });
  handleResources(server, options);
  handlePrompts(server, options);
  // The SDK's own handler would let everything through before a level is set; what is sent is decided beside the mesh.
  server.setRequestHandler(SetLevelRequestSchema, async ({ params }) => {
    await setLevel(params.level);
    return {};
  });
  return server;
}

type SendProgress = (notification: {
  method: 'notifications/progress';
  params: { progressToken: ProgressToken; progress: number; message: string };
}) => Promise<void>;

/** Progress must grow with every notification: a repeated figure is left out. */
function progressReporter(
  progressToken: ProgressToken,
  send: SendProgress,
  logger: Logger,
): (waitedSeconds: number) => void {
  let last = -1;
  return (waitedSeconds) => {
    if (waitedSeconds <= last) return;
    last = waitedSeconds;
    const message = `waiting for a message, ${Math.round(waitedSeconds)} s so far`;
    send({ method: 'notifications/progress', params: { progressToken, progress: waitedSeconds, message } }).catch(
      (error: unknown) => {
        // The client is going away; the call itself notices that.
        logger.debug(`progress: ${String(error)}`);
      },
    );
  };
}
