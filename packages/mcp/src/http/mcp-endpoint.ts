import type { Logger } from '@git-mesh/core';
import { isInitializeRequest, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { checkLine } from '../rpc-check.js';
import { answerError, answerJson } from './answer.js';
import { refuse, type GateOptions } from './gate.js';
import { leftAfterMs, maxSessions, yieldsAfterMs } from './http-sessions.js';
import type { HttpSession, HttpSessions } from './http-sessions.js';
import { maxBodyBytes, readBody } from './read-body.js';

export const mcpPath = '/mcp';

const noPlace =
  `all ${maxSessions} places are taken by clients in use. One becomes free when a client ends its session (DELETE), ` +
  `${leftAfterMs / 1000} s after one closed its stream, and ${yieldsAfterMs / 60_000} minutes after the last request of ` +
  'one that never had a stream: try again then';

export interface McpEndpointOptions extends GateOptions {
  sessions: HttpSessions;
  logger: Logger;
  now: () => number;
}

/** Answers one HTTP request of an MCP client. */
export async function answerMcp(
  request: IncomingMessage,
  response: ServerResponse,
  options: McpEndpointOptions,
): Promise<void> {
  const refusal = refuse(request.headers, options);
  if (refusal !== null) {
    answerError(response, refusal.status, refusal.message, refusal.headers);
    return;
  }
  if (request.url?.split('?')[0] !== mcpPath) {
    answerError(response, 404, `there is nothing here; the server is at ${mcpPath}`);
    return;
  }
  const { method } = request;
  if (method !== 'POST' && method !== 'GET' && method !== 'DELETE') {
    answerError(response, 405, 'the server takes POST, GET and DELETE', { allow: 'GET, POST, DELETE' });
    return;
  }
  const given = request.headers['mcp-session-id'];
  const session = typeof given === 'string' ? options.sessions.get(given) : undefined;
  if (given !== undefined && session === undefined) {
    answerError(response, 404, 'there is no such session (any more): initialize a new one');
    return;
  }
  if (method === 'POST') await answerPost(request, response, session, options);
  else if (session === undefined) answerError(response, 400, 'the Mcp-Session-Id header is missing');
  else await hand(request, response, session, options);
}

async function answerPost(
  request: IncomingMessage,
  response: ServerResponse,
  session: HttpSession | undefined,
  options: McpEndpointOptions,
): Promise<void> {
  const body = await readBody(request);
  if ('problem' in body) {
    if (body.problem === 'too long') {
      answerError(response, 413, `a request may have ${maxBodyBytes} bytes`, { connection: 'close' });
    } else answerError(response, 400, `the body is ${body.problem}`);
    return;
  }
  const checked = checkLine(body.text);
  switch (checked.kind) {
    case 'problem':
      answerJson(response, checked.problem.id === null ? 400 : 200, checked.problem);
      return;
    case 'ignored':
      options.logger.debug(`protocol: ignored: ${checked.reason}`);
      response.writeHead(202).end();
      return;
    case 'message':
      await answerMessage(request, response, { session, message: checked.message, text: body.text }, options);
  }
}

async function answerMessage(
  request: IncomingMessage,
  response: ServerResponse,
  { session, message, text }: { session: HttpSession | undefined; message: JSONRPCMessage; text: string },
  options: McpEndpointOptions,
): Promise<void> {
  if (session === undefined && !isInitializeRequest(message)) {
    answerError(response, 400, 'the Mcp-Session-Id header is missing; a client begins with initialize');
    return;
  }
  const used = session ?? (await options.sessions.begin());
  if (used === null) {
    answerError(response, 503, noPlace, { 'retry-after': String(leftAfterMs / 1000) });
    return;
  }
  if ('method' in message && 'id' in message && message.method === 'tools/call') used.texts.set(message.id, text);
  await hand(request, response, used, options, message);
  // What the transport refused, such as an unacceptable content type, began no session.
  if (session === undefined && used.transport.sessionId === undefined) options.sessions.discard(used);
  if ('method' in message && 'id' in message && response.statusCode >= 400) used.texts.delete(message.id);
}

async function hand(
  request: IncomingMessage,
  response: ServerResponse,
  session: HttpSession,
  { now }: McpEndpointOptions,
  message?: JSONRPCMessage,
): Promise<void> {
  session.lastAt = now();
  session.open += 1;
  response.once('close', () => {
    session.open -= 1;
    if (request.method === 'GET' && response.statusCode === 200) session.hasListened = true;
    session.lastAt = now();
  });
  await session.transport.handleRequest(request, response, message);
}
