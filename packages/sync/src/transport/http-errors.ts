import type { IncomingHttpHeaders } from 'node:http';
import { MeshError } from '@git-mesh/core';
import type { ErrorData } from '@git-mesh/core';
import { redact } from '../redact.js';
import type { HttpResponse } from './http-client.js';

const longestWords = 2_048;

/** What a server says in plain text beside a status; its web pages say nothing to anybody here. */
async function serversWords(response: HttpResponse, secrets: readonly string[]): Promise<string> {
  const type = contentType(response.headers);
  if (type !== 'text/plain' && type !== 'application/json') return '';
  let text = '';
  try {
    for await (const chunk of response.body) {
      text += Buffer.from(chunk).toString('utf8');
      if (text.length > longestWords) break;
    }
  } catch (error) {
    // The status says what is wrong; words that were cut are only missing.
    if (!(error instanceof MeshError)) throw error;
  }
  for (const secret of secrets) text = text.replaceAll(secret, '***');
  return redact(text);
}

/**
 * The error that an answer other than 2xx stands for, with the server's own words where it said any in plain text.
 * 401 auth_failed · 403 auth_failed, where we push push_refused · 404, 410 remote_not_found · 407 auth_failed · 413 payload_too_large ·
 * 429, 5xx unreachable · others protocol_error. `data.retry_after_ms` where the server says how long to wait;
 * `data.http_status` always. `secrets` are taken out of the words.
 */
export async function statusError(
  response: HttpResponse,
  options: { secrets: readonly string[]; tried: readonly string[]; pushing: boolean; now: number },
): Promise<MeshError> {
  const words = await serversWords(response, options.secrets);
  const said = words === '' ? '' : `. It says: ${words}`;
  const { status, headers } = response;
  const retryAfterMs = retryAfter(headers, options.now);
  const data: ErrorData = {
    http_status: status,
    ...(retryAfterMs === null ? {} : { retry_after_ms: retryAfterMs }),
  };
  const wait = retryAfterMs === null ? '' : ` and asks to wait ${Math.ceil(retryAfterMs / 1000)} s`;
  switch (status) {
    case 401:
      return new MeshError('auth_failed', `${refusedWho(options.tried)} (401)${said}`, { data });
    case 403:
      return options.pushing
        ? new MeshError('push_refused', `the remote forbids whoever it takes us for to push (403)${wait}${said}`, {
            data,
          })
        : new MeshError('auth_failed', `the remote forbids whoever it takes us for to read (403)${wait}${said}`, {
            data,
          });
    case 404:
    case 410:
      return new MeshError(
        'remote_not_found',
        `there is no repository at the remote's address (${status}), or it is hidden from whoever it takes us for: check the address (with and without .git) and the credentials${said}`,
        { data },
      );
    case 407:
      return new MeshError(
        'auth_failed',
        'the proxy asks for credentials (407): put them into the proxy\'s URL, as in HTTPS_PROXY="http://user:password@host:port"',
        { data },
      );
    case 413:
      return new MeshError('payload_too_large', `the remote takes no request as large as this one (413)${said}`, {
        data,
      });
    case 429:
      return new MeshError('unreachable', `the remote has had too many requests (429)${wait}${said}`, { data });
    default:
      if (status >= 500) {
        return new MeshError('unreachable', `the remote is in trouble of its own (${status})${wait}${said}`, { data });
      }
      return new MeshError('protocol_error', `the remote answered with status ${status}: expected 200${said}`, {
        data,
      });
  }
}

function refusedWho(tried: readonly string[]): string {
  if (tried.length > 0) return `the remote refused the credentials of ${tried.join(' and of ')}`;
  return "the remote asks for credentials, and there are none: log in with git's credential helper (git credential approve), or set GIT_MESH_TOKEN (which is sent over https only; where remotes are on several hosts, GIT_MESH_TOKEN_HOST for each)";
}

/** The wait that `Retry-After` asks for (seconds, or a date), in milliseconds; null without one. */
function retryAfter(headers: IncomingHttpHeaders, now: number): number | null {
  const value = headers['retry-after']?.trim() ?? '';
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const date = value === '' ? Number.NaN : Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

/** @throws MeshError `protocol_error` unless the answer is git's own. */
export function checkContentType(headers: IncomingHttpHeaders, expected: string): void {
  const type = contentType(headers);
  if (type === expected) return;
  const what =
    type === 'text/html' || type === 'application/xhtml+xml'
      ? 'a web page (a login page, perhaps, or the address of a page that shows the repository)'
      : type === 'text/plain' || type === 'application/octet-stream' || type === ''
        ? 'plain files, which is no git server that can be pushed to (git calls it a dumb one)'
        : `"${redact(type, { maxLength: 80 })}"`;
  throw new MeshError(
    'protocol_error',
    `the remote answered with ${what}: expected a git server that speaks smart http (${expected})`,
  );
}

function contentType(headers: IncomingHttpHeaders): string {
  return (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

const certificateCodes =
  /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(?:GET_ISSUER|VERIFY_LEAF|GET_CRL)|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/;

/** What a connection that failed stands for. `where` is "the remote" or the proxy by its name; `step` what was being done. */
export function connectionError(error: unknown, { where, step }: { where: string; step: string }): unknown {
  if (error instanceof MeshError || !(error instanceof Error)) return error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (code === '') return error;
  const because = { cause: error };
  if (certificateCodes.test(code)) {
    const why = code === 'CERT_HAS_EXPIRED' ? 'it has expired' : code;
    return new MeshError(
      'unreachable',
      `the certificate of ${where} is not to be trusted (${why}). If it is your own authority's: GIT_SSL_CAINFO=FILE or git config --global http.sslCAInfo FILE`,
      because,
    );
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return new MeshError('unreachable', `the host of ${where} has no address that can be found (${code})`, because);
  }
  if (code.startsWith('HPE_')) {
    return new MeshError('protocol_error', `${where} answered with something else than http (${code})`, because);
  }
  if (code.startsWith('Z_') || code === 'ERR_BUFFER_TOO_LARGE') {
    return new MeshError('protocol_error', `${where} sent compressed data that is damaged or cut (${code})`, because);
  }
  if (code.startsWith('ERR_SSL_')) {
    return new MeshError('unreachable', `${where} could not be spoken to with TLS (${code})`, because);
  }
  // Node's other ERR_ codes are wrong uses of its interfaces: bugs of ours.
  if (code.startsWith('ERR_') && !code.startsWith('ERR_STREAM_') && !code.startsWith('ERR_TLS_')) return error;
  return new MeshError('unreachable', `the connection to ${where} failed while ${step} (${code})`, because);
}
