import type { Env } from '../git-env.js';
import type { RemoteUrl } from '../remote-url.js';
import type { Transport } from './port.js';

/** For git processes on a local remote: the file of `writeGitConfig`, and what writes it. */
export interface LocalConfig {
  globalConfig: string;
  writeConfig: () => Promise<unknown>;
}

/** The way to a remote; only its own kind is loaded. */
export async function transportFor(remote: RemoteUrl, options: LocalConfig & { env: Env }): Promise<Transport> {
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
