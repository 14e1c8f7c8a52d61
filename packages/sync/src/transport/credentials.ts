import type { Env } from '../git-env.js';
import { userAndPassword } from '../http-url.js';
import { askHelper, tellHelper } from './credential-helper.js';
import { tokenFor } from './token.js';
import type { Token } from './token.js';

export interface Credential {
  username: string;
  password: string;
  /** Where it came from, for the words of a refusal; a helper is told how it went. */
  source: 'the URL' | Token['source'] | "git's credential helper";
}

/** GitHub, GitLab, Gitea and Bitbucket take any or this name beside a token. */
const defaultTokenUser = 'x-access-token';

/**
 * Who we are for one host. Nothing is looked up before the host asks; what it took is kept in memory, and only there.
 * A user and password of the URL are the only ones tried where it has both; else the token of the
 * environment for this host (with its user name, else the URL's user, else `x-access-token`), then git's credential helpers.
 */
export class Credentials {
  readonly #env: Env;
  readonly #url: URL;
  #known: Credential | null = null;
  #told = false;

  /** `url` with its user and password. */
  constructor(url: URL, env: Env) {
    this.#url = url;
    this.#env = env;
  }

  /** What the host took the last time; null before. */
  get known(): Credential | null {
    return this.#known;
  }

  /** Each credential there is, in the order in which they are tried. The helper is asked when its turn comes. */
  async *candidates(signal: AbortSignal): AsyncGenerator<Credential, void, undefined> {
    const [user, password] = userAndPassword(this.#url);
    if (password !== '') {
      yield { username: user, password, source: 'the URL' };
      return;
    }
    const token = tokenFor(this.#url, this.#env);
    if (token !== null) {
      const username = token.username ?? (user !== '' ? user : defaultTokenUser);
      yield { username, password: token.token, source: token.source };
    }
    const answer = await askHelper({ url: this.#url, username: user, env: this.#env, signal });
    if (answer !== null) yield { ...answer, source: "git's credential helper" };
  }

  /** The host took it: it goes with every further request, and a helper may store it. */
  async accepted(credential: Credential): Promise<void> {
    if (this.#known === credential && this.#told) return;
    this.#known = credential;
    this.#told = true;
    if (credential.source !== "git's credential helper") return;
    await tellHelper('approve', { url: this.#url, env: this.#env, ...credential });
  }

  /** The host refused it: a helper must not offer it again. */
  async refused(credential: Credential): Promise<void> {
    if (this.#known === credential) this.#known = null;
    this.#told = false;
    if (credential.source !== "git's credential helper") return;
    await tellHelper('reject', { url: this.#url, env: this.#env, ...credential });
  }
}

export function basicAuthorization({ username, password }: Credential): string {
  return `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`;
}
