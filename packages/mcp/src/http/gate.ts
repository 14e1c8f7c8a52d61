import type { IncomingHttpHeaders } from 'node:http';
import { isSameSecret } from '@git-mesh/core';

export interface Refusal {
  status: number;
  message: string;
  /** More headers of the answer. */
  headers?: Record<string, string>;
}

export interface GateOptions {
  /** The port that the server listens on. */
  port: number;
  token: string;
}

const loopback = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Who may ask. A web page that has its name resolved to this machine is told by its Host, one that simply asks by its
 * Origin, and another user of this machine by the token that it does not have. Null for one who may.
 */
export function refuse(headers: IncomingHttpHeaders, { port, token }: GateOptions): Refusal | null {
  const host = headers.host?.toLowerCase() ?? '';
  if (!loopback.some((name) => host === `${name}:${port}`)) {
    return { status: 403, message: `the Host header must name this machine and port, such as 127.0.0.1:${port}` };
  }
  if (headers.origin !== undefined && !isLoopbackOrigin(headers.origin)) {
    return { status: 403, message: 'pages of other origins may not ask' };
  }
  const [, given] = /^Bearer ([!-~]+) *$/i.exec(headers.authorization ?? '') ?? [];
  if (given !== undefined && isSameSecret(given, token)) return null;
  return {
    status: 401,
    message: 'the Authorization header must be "Bearer " and the token that the server was started with',
    headers: { 'www-authenticate': 'Bearer realm="git-mesh"' },
  };
}

function isLoopbackOrigin(origin: string): boolean {
  const [, name] = /^https?:\/\/([^/:[\]]+|\[[^\]]*\])(?::\d{1,5})?$/.exec(origin.toLowerCase()) ?? [];
  return name !== undefined && loopback.includes(name);
}
