import { join } from 'node:path';
import { agentKey, isAgentKey, isErrno, nodeFs, waitingMessages, writeAtomic } from '@git-mesh/core';
import type { AgentKey, Logger, MeshContext, MessageEntry, SessionState } from '@git-mesh/core';
import type { Env } from './git-env.js';
import { herdrTimeoutMs, runHerdr } from './herdr.js';
import { plainMessage } from './redact.js';

/** The whole of what is said to a pane: a count, and not one byte of a message. */
const wakeText = (count: number): string => `[auto-wake #2540] Hay ${count} mensajes de Agent Mesh; llamá agent_inbox`;

export interface WakeOptions {
  mesh: MeshContext;
  env: Env;
  logger: Logger;
  /** For each run of herdr; 5 s when left out. */
  timeoutMs?: number;
}

/**
 * Wakes the agents of this machine that gave a Herdr pane when there is something new in their inbox: one prompt for
 * all that is new, and none for what was prompted for before, by whichever process. An agent that is blocked (Enter
 * would answer its permission dialog) is looked at again after the next round. Whatever fails is logged and no more:
 * the inbox is the truth. Does nothing on Windows.
 */
export class Wake {
  readonly #options: WakeOptions;
  readonly #stateFile: string;
  #running: Promise<void> | null = null;
  #again = false;
  /** The journal's highest number when it was last looked at: while that stands, nothing is new. */
  #seen = -1;
  #blocked = false;

  constructor(options: WakeOptions) {
    this.#options = options;
    this.#stateFile = join(options.mesh.store.dir, 'mesh', 'wakes.json');
  }

  /** Looks for what is new, and returns at once. Safe to call at any time. */
  look(): void {
    if (this.#options.mesh.platform === 'win32') return;
    if (this.#running !== null) {
      this.#again = true;
      return;
    }
    this.#running = this.#work().finally(() => {
      this.#running = null;
    });
  }

  /** Resolves when nobody is being woken any more. */
  async idle(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  async #work(): Promise<void> {
    do {
      this.#again = false;
      try {
        await this.#wakeAll();
      } catch (error) {
        // Nobody waits for this: neither a full disk nor a held store may end the process.
        this.#options.logger.warn(`no Herdr pane was woken: ${plainMessage(error)}`);
      }
    } while (this.#isAsked());
  }

  /** A method, since it may change during any await, which the compiler would not believe of a field. */
  #isAsked(): boolean {
    return this.#again;
  }

  async #wakeAll(): Promise<void> {
    const { store } = this.#options.mesh;
    const { highest } = await store.journal.view();
    if (highest === this.#seen && !this.#blocked) return;
    this.#seen = highest;
    const blocked: boolean[] = [];
    await Promise.all(
      (await store.local.sessions()).map(async (session) => {
        if (session.herdr_pane === null || session.ended !== undefined) return;
        blocked.push(await this.#wake(session, session.herdr_pane));
      }),
    );
    this.#blocked = blocked.includes(true);
  }

  /** True where the agent is blocked and must be looked at again. */
  async #wake({ agent }: SessionState, pane: string): Promise<boolean> {
    const { mesh, env, logger, timeoutMs = herdrTimeoutMs } = this.#options;
    const key = agentKey(agent);
    const entries = await waitingMessages(mesh, key, (await this.#prompted()).get(key) ?? 0);
    if (entries.length === 0) return false;
    const state = await runHerdr(['agent', 'get', pane], env, timeoutMs);
    if (!state.ok) {
      logger.warn(`the Herdr pane of ${agent} was not woken: ${state.reason}`);
      return false;
    }
    if (agentStatus(state.stdout) === 'blocked') {
      logger.info(`the Herdr pane of ${agent} is blocked: it is not woken before it goes on`);
      return true;
    }
    const count = await this.#claim(key, entries);
    if (count === 0) return false;
    const answer = await runHerdr(['agent', 'prompt', pane, wakeText(count)], env, timeoutMs);
    if (answer.ok) logger.debug(`woke the Herdr pane of ${agent}`);
    else logger.warn(`the Herdr pane of ${agent} was not woken: ${answer.reason}`);
    return false;
  }

  /**
   * Notes that an agent is prompted for these, before it is: of two processes only one prompts. How many of them
   * nobody has prompted for.
   */
  async #claim(key: AgentKey, entries: readonly MessageEntry[]): Promise<number> {
    return this.#options.mesh.store.withLock(async () => {
      const prompted = await this.#prompted();
      const fresh = entries.filter(({ n }) => n > (prompted.get(key) ?? 0));
      const last = fresh.at(-1);
      if (last === undefined) return 0;
      prompted.set(key, last.n);
      const bytes = Buffer.from(`${JSON.stringify(Object.fromEntries(prompted))}\n`);
      await writeAtomic(nodeFs, this.#stateFile, bytes);
      return fresh.length;
    });
  }

  /** The highest number that each agent was prompted for. A file that cannot be read costs a second prompt. */
  async #prompted(): Promise<Map<AgentKey, number>> {
    const prompted = new Map<AgentKey, number>();
    for (const [key, n] of Object.entries(await readObject(this.#stateFile))) {
      if (isAgentKey(key) && Number.isSafeInteger(n)) prompted.set(key, Number(n));
    }
    return prompted;
  }
}

/** Null where it cannot be told, as by a version of Herdr that answers otherwise. */
function agentStatus(stdout: string): string | null {
  const agent = property(property(parseJson(stdout), 'result'), 'agent');
  const status = property(agent, 'agent_status');
  return typeof status === 'string' ? status : null;
}

async function readObject(file: string): Promise<object> {
  try {
    const value = parseJson(Buffer.from(await nodeFs.readFile(file)).toString('utf8'));
    return typeof value === 'object' && value !== null ? value : {};
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return {};
    throw error;
  }
}

/** Undefined where the text is no JSON, which JSON never is. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
