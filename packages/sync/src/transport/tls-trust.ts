import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as tls from 'node:tls';
import { MeshError } from '@git-mesh/core';
import type { Env } from '../git-env.js';

/** Where systems keep the certificates that their own git trusts: Debian, Fedora, SUSE, macOS and Alpine. */
const systemBundles = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/**
 * The certificate authorities that a server may be vouched for by. GIT_SSL_CAINFO, else `http.sslCAInfo`, stands in
 * place of all others, as it does for git. Without either: Node's own, the system's, and those of SSL_CERT_FILE and
 * NODE_EXTRA_CA_CERTS, so that a host which git reaches on this machine is reached by git-mesh too.
 *
 * @throws MeshError `invalid_argument` where GIT_SSL_NO_VERIFY is set (verification is never left out), or the named
 * file cannot be used.
 */
export async function tlsTrust(options: { env: Env; caFile: string | null }): Promise<tls.SecureContext> {
  const { env, caFile } = options;
  if (env['GIT_SSL_NO_VERIFY'] !== undefined) {
    throw new MeshError(
      'invalid_argument',
      'GIT_SSL_NO_VERIFY is set, but git-mesh always verifies who it talks to. Unset it, and name the authority of your server with GIT_SSL_CAINFO=FILE or git config --global http.sslCAInfo FILE',
    );
  }
  const fromEnv = env['GIT_SSL_CAINFO'] ?? '';
  if (fromEnv !== '') return namedAuthority(fromEnv, 'GIT_SSL_CAINFO');
  if (caFile !== null) return namedAuthority(caFile, 'http.sslCAInfo');
  const more = await systemAuthorities(env);
  try {
    return tls.createSecureContext({ ca: [...tls.rootCertificates, ...more] });
  } catch (error) {
    // One certificate that OpenSSL cannot read must not take the whole world away.
    if (!(error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_OSSL'))) throw error;
    return tls.createSecureContext({ ca: [...tls.rootCertificates] });
  }
}

async function namedAuthority(file: string, setting: string): Promise<tls.SecureContext> {
  const path = file.startsWith('~/') ? join(homedir(), file.slice(2)) : file;
  try {
    const ca = await readFile(path, 'utf8');
    if (!ca.includes('-----BEGIN CERTIFICATE-----')) throw new Error('no certificate is in it');
    return tls.createSecureContext({ ca });
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : 'it holds no PEM certificate';
    throw new MeshError(
      'invalid_argument',
      `the file of ${setting} cannot be used (${why}): expected PEM certificates of the authorities to trust`,
      { cause: error },
    );
  }
}

async function systemAuthorities(env: Env): Promise<string[]> {
  // Node 22.15 and later can ask the system itself (Windows and macOS among them); @types/node 20 does not know it.
  const { getCACertificates } = tls as { getCACertificates?: (type: 'system') => string[] };
  const asked = getCACertificates?.('system') ?? [];
  const bundles: (string | undefined)[] = [env['SSL_CERT_FILE'], env['NODE_EXTRA_CA_CERTS']];
  if (asked.length === 0 && bundles[0] === undefined) bundles.push(...systemBundles);
  const found: string[] = [...asked];
  for (const path of bundles) {
    if (path === undefined || path === '') continue;
    const text = await readIfThere(path);
    found.push(...(text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []));
  }
  return [...new Set(found)];
}

/** Empty where it cannot be read: an authority that is missing shows in the connection, with what to do. */
async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error) return '';
    throw error;
  }
}
