import type { Env } from '../git-env.js';
import { runUserGit } from './user-git.js';

/** What the user's git is told about http, for one URL. */
export interface HttpSettings {
  /** `http.proxy`; empty where the configuration says "none". Null where it says nothing. */
  proxy: string | null;
  /** `http.sslCAInfo`. */
  caFile: string | null;
}

const limitMs = 5_000;

/** Reads the user's and the system's git configuration, `http.<url>.*` included, as git would for `url`. */
export async function httpSettings(options: { url: string; env: Env; signal?: AbortSignal }): Promise<HttpSettings> {
  const { url, env, signal } = options;
  const output = await runUserGit(['config', '--null', '--get-urlmatch', 'http', url], { env, signal, limitMs });
  const values = new Map(
    (output ?? '')
      .split('\0')
      .filter((entry) => entry !== '')
      .map((entry) => {
        const end = entry.indexOf('\n');
        return end < 0 ? [entry, ''] : [entry.slice(0, end), entry.slice(end + 1)];
      }),
  );
  const caFile = values.get('http.sslcainfo') ?? null;
  return { proxy: values.get('http.proxy') ?? null, caFile: caFile === '' ? null : caFile };
}
