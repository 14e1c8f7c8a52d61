import * as http from 'node:http';
import * as https from 'node:https';
import { isIP } from 'node:net';
import type { Socket } from 'node:net';
import * as tls from 'node:tls';
import { MeshError } from '@git-mesh/core';
import { connectionError } from './http-errors.js';
import { proxyAuthorization, proxyName } from './proxy.js';

export interface TunnelOptions {
  /** With its user and password, which go to the proxy alone. */
  proxy: URL;
  host: string;
  port: number;
  trust: tls.SecureContext;
  signal: AbortSignal;
  /** Told of each socket as it is made, so that it can be ended. */
  track: (socket: Socket) => void;
}

/**
 * A TLS connection with `host` through a proxy (CONNECT), verified as a direct one is.
 * @throws MeshError `unreachable` (the proxy cannot be reached, or will not let us through), `auth_failed` (407).
 */
export async function openTunnel(options: TunnelOptions): Promise<tls.TLSSocket> {
  const { host, trust, track } = options;
  const plain = await connect(options);
  const name = host.replace(/^\[|\]$/g, '');
  const socket = tls.connect({
    socket: plain,
    secureContext: trust,
    rejectUnauthorized: true,
    // No name is sent for an address.
    ...(isIP(name) === 0 ? { servername: name } : { host: name }),
  });
  track(socket);
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
  });
}

function connect({ proxy, host, port, signal, track }: TunnelOptions): Promise<Socket> {
  const authorization = proxyAuthorization(proxy);
  const target = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const request = (proxy.protocol === 'https:' ? https : http).request(new URL(proxy.origin), {
    method: 'CONNECT',
    path: target,
    agent: false,
    signal,
    headers: { host: target, ...(authorization === null ? {} : { 'proxy-authorization': authorization }) },
  });
  request.once('socket', track);
  const where = `the proxy ${proxyName(proxy)}`;
  return new Promise((resolve, reject) => {
    request.once('error', (error) => {
      const failure = connectionError(error, { where, step: 'asking it for the remote' });
      reject(failure instanceof Error ? failure : error);
    });
    request.once('connect', (response, socket, head) => {
      if (response.statusCode === 200 && head.length === 0) {
        resolve(socket);
        return;
      }
      socket.destroy();
      reject(refusal(response.statusCode ?? 0, where));
    });
    // A proxy that answers as a web server does.
    request.once('response', (response) => {
      response.destroy();
      reject(refusal(response.statusCode ?? 0, where));
    });
    request.end();
  });
}

function refusal(status: number, where: string): MeshError {
  if (status === 407) {
    return new MeshError(
      'auth_failed',
      `${where} asks for credentials (407): put them into its URL, as in HTTPS_PROXY="http://user:password@host:port"`,
    );
  }
  return new MeshError(
    'unreachable',
    `${where} does not let us through to the remote (status ${status}): see HTTPS_PROXY and NO_PROXY`,
  );
}
