import type { Env } from '../git-env.js';
import type { RemoteUrl } from '../remote-url.js';
import { httpTransport } from './http.js';
import { localTransport } from './local.js';
import type { Transport } from './port.js';
import { sshTransport } from './ssh.js';

/** The way to a remote. `globalConfig` is the file of `writeGitConfig`, for git processes on a local remote. */
export function transportFor(remote: RemoteUrl, options: { env: Env; globalConfig: string }): Transport {
  switch (remote.kind) {
    case 'local':
      return localTransport({ path: remote.path, ...options });
    case 'ssh':
      return sshTransport({ url: remote, env: options.env });
    case 'http':
      return httpTransport({ url: remote.url, env: options.env });
  }
}
