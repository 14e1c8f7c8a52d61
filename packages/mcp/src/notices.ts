import type { Logger, StatusResult } from '@git-mesh/core';
import { visibleText } from '@git-mesh/core';
import type { LoggingLevel } from '@modelcontextprotocol/sdk/types.js';
import { ChangeLooks } from './change-looks.js';
import type { MeshUse } from './mesh-session.js';
import { RateLimit } from './rate-limit.js';

const gapMs = 1_000;
/** So many a minute; what is more is counted. */
const perMinute = 10;
const maxLength = 500;

/** From the least to the most urgent. */
const levels: readonly LoggingLevel[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
];

export interface Notice {
  level: LoggingLevel;
  message: string;
}

export interface NoticesOptions {
  session: MeshUse;
  send: (notice: Notice) => void;
  logger: Logger;
  now: () => number;
}

/**
 * Tells one client what a person would want to know of the synchronisation: a remote out of reach or back again, a
 * branch that is not accepted, no process that synchronises. Silent until the client asks for a level and a call has
 * opened the mesh; what was so at that moment is told by the tools.
 */
export class Notices {
  readonly #options: NoticesOptions;
  readonly #looks: ChangeLooks;
  readonly #rate: RateLimit;
  #level: LoggingLevel | null = null;
  #isOpen = false;
  #watch: { close(): void } | null = null;
  #before: StatusResult | null = null;
  #closed = false;

  constructor(options: NoticesOptions) {
    this.#options = options;
    this.#rate = new RateLimit({ perMinute, now: options.now });
    this.#looks = new ChangeLooks({
      look: () => this.#look(),
      gapMs,
      now: options.now,
      onError: (error) => {
        options.logger.debug(`a look for notices failed: ${String(error)}`);
      },
    });
  }

  /** The least urgent level that the client wants. */
  async setLevel(level: LoggingLevel): Promise<void> {
    this.#level = level;
    await this.#begin();
  }

  /** A call has opened the mesh. */
  async opened(): Promise<void> {
    this.#isOpen = true;
    await this.#begin();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#watch?.close();
    await this.#looks.close();
  }

  async #begin(): Promise<void> {
    if (this.#level === null || !this.#isOpen || this.#isSettled()) return;
    const { mesh } = await this.#options.session.use();
    if (this.#isSettled()) return;
    this.#watch = mesh.onChange(() => {
      this.#looks.changed();
    });
    try {
      await this.#look();
    } catch (error) {
      this.#options.logger.debug(`a look for notices failed: ${String(error)}`);
    }
  }

  /** A method, since it may change during any await, which the compiler would not believe of a field. */
  #isSettled(): boolean {
    return this.#watch !== null || this.#closed;
  }

  async #look(): Promise<null> {
    const { mesh } = await this.#options.session.use();
    const now = await mesh.api.status();
    const before = this.#before;
    this.#before = now;
    for (const notice of before === null ? [] : newsBetween(before, now)) this.#tell(notice);
    return null;
  }

  #tell(notice: Notice): void {
    const wanted = this.#level;
    if (this.#closed || wanted === null || levels.indexOf(notice.level) < levels.indexOf(wanted)) return;
    const allowed = this.#rate.take();
    if (allowed === null) return;
    const more = allowed.leftOut === 0 ? '' : ` (${allowed.leftOut} earlier notices were left out)`;
    this.#options.send({ ...notice, message: visibleText(`${notice.message}${more}`, { maxLength }) });
  }
}

/** What is different for a person. Error texts are the tools' to give: a notice names the kind, which does not vary by the try. */
function newsBetween(before: StatusResult, now: StatusResult): Notice[] {
  const news: Notice[] = [];
  for (const { name, error } of now.remotes) {
    const was = before.remotes.find((remote) => remote.name === name)?.error?.name ?? null;
    const is = error?.name ?? null;
    if (is === was) continue;
    if (is === null) news.push({ level: 'notice', message: `remote ${name} answers again` });
    else
      news.push({
        level: 'warning',
        message: `remote ${name} does not synchronise: ${is}; agent_mesh_status tells more`,
      });
  }
  const known = new Set(before.problems.map(keyOf));
  for (const problem of now.problems) {
    if (problem.machine === undefined || known.has(keyOf(problem))) continue;
    news.push({
      level: 'warning',
      message: `trouble with machine ${problem.machine}: ${problem.kind}; agent_mesh_status tells more`,
    });
  }
  if (before.worker !== null && now.worker === null) {
    news.push({ level: 'notice', message: 'the process that synchronised has ended; another takes over' });
  }
  if (before.worker === null && now.worker !== null) {
    news.push({ level: 'info', message: 'a process here synchronises again' });
  }
  return news;
}

const keyOf = ({ kind, machine }: { kind: string; machine?: string }): string => `${kind} ${machine ?? ''}`;
