import type { Env } from '../git-env.js';
import type { RemoteUrl } from '../remote-url.js';
import type { Transport } from './port.js';

/** The way to a remote; only its own kind is loaded. `globalConfig` is the file of `writeGitConfig`, for git processes on a local remote. */
export async function transportFor(remote: RemoteUrl, options: { env: Env; globalConfig: string }): Promise<Transport> {
  switch (remote.kind) {
    case 'local': {
      const { localTransport } = await import('./local.js');
      return localTransport({ path: remote.path, ...options });
    }
    case 'ssh': {
      const { sshTransport } = await import('./ssh.js');
      return sshTransport({ url: remote, env: options.env });
    }
    case 'http': {
      const { httpTransport } = await import('./http.js');
      return httpTransport({ url: remote.url, env: options.env });
    }
  }
}
