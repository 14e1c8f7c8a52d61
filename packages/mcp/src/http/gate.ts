import type { IncomingHttpHeaders } from 'node:http';
import { foreignRequest, isSameSecret } from '@git-mesh/core';

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

/** Who may ask: programs of this machine, and of those one that has the token. Null for one who may. */
export function refuse(headers: IncomingHttpHeaders, { port, token }: GateOptions): Refusal | null {
  const foreign = foreignRequest(headers, { port, pages: 'loopback' });
  if (foreign !== null) return { status: 403, message: foreign };
  const [, given] = /^Bearer ([!-~]+) *$/i.exec(headers.authorization ?? '') ?? [];
  if (given !== undefined && isSameSecret(given, token)) return null;
  return {
    status: 401,
    message: 'the Authorization header must be "Bearer " and the token that the server was started with',
    headers: { 'www-authenticate': 'Bearer realm="git-mesh"' },
  };
}
