import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import { randomUUID } from 'node:crypto';
import type { ClientConnection } from '../connect-client.js';

export const maxSessions = 64;
/** One that nobody asked anything of for so long is over: longer than any presence lives. */
const idleMs = 24 * 60 * 60_000;
/** Where all places are taken, one idle for so long makes room: its client may think about an answer for minutes. */
export const yieldsAfterMs: number = 10 * 60_000;
/** One whose client had a stream open and closed it: most end like that, and one that lives opens it again at once. */
export const leftAfterMs = 30_000;

export interface HttpSession {
  readonly transport: StreamableHTTPServerTransport;
  readonly client: ClientConnection;
  /** tools/call requests as they were written, each until it is asked for. */
  readonly texts: Map<RequestId, string>;
  /** Answers and streams that are not over. */
  open: number;
  /** Whether its client ever had a stream open to listen on. */
  hasListened: boolean;
  /** Milliseconds since 1970. */
  lastAt: number;
}

export type Connect = (options: { textOf: (id: RequestId) => string | undefined }) => ClientConnection;

/** The clients that are connected over HTTP, each with a connection of its own. Bounded. */
export class HttpSessions {
  readonly #byId = new Map<string, HttpSession>();
  readonly #endings = new Set<Promise<void>>();
  readonly #connect: Connect;
  readonly #now: () => number;
  /** Being made, and not in the map yet. */
  #coming = 0;

  constructor({ connect, now }: { connect: Connect; now: () => number }) {
    this.#connect = connect;
    this.#now = now;
  }

  get(id: string): HttpSession | undefined {
    return this.#byId.get(id);
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Null where there are too many, and all of them in use. */
  async begin(): Promise<HttpSession | null> {
    this.expire();
    if (this.#byId.size + this.#coming >= maxSessions && !this.#makeRoom()) return null;
    this.#coming += 1;
    try {
      const texts = new Map<RequestId, string>();
      const client = this.#connect({
        textOf: (id) => {
          const text = texts.get(id);
          texts.delete(id);
          return text;
        },
      });
      const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (id) => {
          this.add(id, session);
        },
        onsessionclosed: (id) => {
          this.end(id);
        },
      });
      const session: HttpSession = { transport, client, texts, open: 0, hasListened: false, lastAt: this.#now() };
      await client.server.connect(transport);
      return session;
    } finally {
      this.#coming -= 1;
    }
  }

  /** From here on it is found by its id. */
  add(id: string, session: HttpSession): void {
    this.#byId.set(id, session);
  }

  end(id: string): void {
    const session = this.#byId.get(id);
    if (session === undefined) return;
    this.#byId.delete(id);
    this.discard(session);
  }

  /** For one that never came to be: its request was no proper beginning. */
  discard(session: HttpSession): void {
    const ending = session.client.close().finally(() => this.#endings.delete(ending));
    this.#endings.add(ending);
  }

  expire(): void {
    for (const [id, { open, lastAt }] of this.#byId) {
      if (open === 0 && this.#now() - lastAt > idleMs) this.end(id);
    }
  }

  #makeRoom(): boolean {
    const overdueMs = ({ open, hasListened, lastAt }: HttpSession): number =>
      open > 0 ? -1 : this.#now() - lastAt - (hasListened ? leftAfterMs : yieldsAfterMs);
    const [longest] = [...this.#byId]
      .map(([id, session]) => ({ id, overdue: overdueMs(session) }))
      .filter(({ overdue }) => overdue > 0)
      .sort((a, b) => b.overdue - a.overdue);
    if (longest === undefined) return false;
    this.end(longest.id);
    return true;
  }

  async endCalls(): Promise<void> {
    await Promise.all([...this.#byId.values()].map(({ client }) => client.endCalls()));
  }

  async close(): Promise<void> {
    for (const id of [...this.#byId.keys()]) this.end(id);
    await Promise.all(this.#endings);
  }
}
