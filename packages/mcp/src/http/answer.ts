import type { ServerResponse } from 'node:http';

/** A JSON-RPC error that belongs to no request that could be read. */
export function answerError(
  response: ServerResponse,
  status: number,
  message: string,
  headers: Record<string, string> = {},
): void {
  answerJson(response, status, { jsonrpc: '2.0', error: { code: -32000, message }, id: null }, headers);
}

export function answerJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers });
  response.end(JSON.stringify(body));
}
