import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  ListResourceTemplatesRequestSchema,
  ListResourcesRequestSchema,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { knownResource, meshErrorOf, readResource, resourceList, resourceTemplates } from './resources.js';
import type { MeshServerOptions } from './server.js';

/** Listing them opens nothing; reading one is a call, and watching one too. */
export function handleResources(
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- as in server.ts
  server: Server,
  {
    callTool,
    subscribe,
    unsubscribe,
    logger,
  }: Pick<MeshServerOptions, 'callTool' | 'subscribe' | 'unsubscribe' | 'logger'>,
): void {
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: [...resourceList] }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: [...resourceTemplates] }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }, { signal }) =>
    readResource(params.uri, (tool, args) => callTool(tool, { args, signal })),
  );
  server.setRequestHandler(SubscribeRequestSchema, async ({ params: { uri } }) => {
    knownResource(uri);
    try {
      await subscribe(uri);
    } catch (error) {
      throw meshErrorOf(uri, error, logger);
    }
    return {};
  });
  server.setRequestHandler(UnsubscribeRequestSchema, async ({ params: { uri } }) => {
    knownResource(uri);
    await unsubscribe(uri);
    return {};
  });
}
