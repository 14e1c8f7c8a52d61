import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CompleteRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js';
import { quotedInput } from './quoted-input.js';
import { promptList, promptText } from './prompts.js';
import { inboxTemplate } from './resource-uri.js';
import type { MeshServerOptions } from './server.js';

/** What an argument is completed for: its names. @throws McpError -32602 for what is no prompt or template here. */
function argumentsOf(ref: { type: 'ref/prompt'; name: string } | { type: 'ref/resource'; uri: string }): string[] {
  if (ref.type === 'ref/prompt') {
    const prompt = promptList.find(({ name }) => name === ref.name);
    if (prompt !== undefined) return prompt.arguments.map(({ name }) => name);
    throw new McpError(ErrorCode.InvalidParams, `unknown prompt ${quotedInput(ref.name)}`);
  }
  if (ref.uri === inboxTemplate) return ['agent_id'];
  throw new McpError(ErrorCode.InvalidParams, `unknown resource template ${quotedInput(ref.uri, 200)}; there is ${inboxTemplate}`); // prettier-ignore
}

/** Prompts and what helps to fill them in. */
export function handlePrompts(
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- as in server.ts
  server: Server,
  { complete, logger }: Pick<MeshServerOptions, 'complete' | 'logger'>,
): void {
  server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts: [...promptList] }));
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => ({
    messages: [
      {
        role: 'user' as const,
        content: { type: 'text' as const, text: promptText(params.name, params.arguments ?? {}) },
      },
    ],
  }));
  server.setRequestHandler(CompleteRequestSchema, async ({ params: { ref, argument } }) => {
    if (!argumentsOf(ref).includes(argument.name)) return { completion: { values: [], total: 0, hasMore: false } };
    try {
      return { completion: await complete(argument) };
    } catch (error) {
      // A help to type must not fail where there is no mesh to look at: the call itself will say so.
      logger.debug(`completion: ${String(error)}`);
      return { completion: { values: [], total: 0, hasMore: false } };
    }
  });
}
