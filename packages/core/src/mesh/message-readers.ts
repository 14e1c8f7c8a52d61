import { agentKey, isAgentId } from '../domain/ids.js';
import type { Ulid } from '../domain/ids.js';
import type { EventLine } from '../domain/results.js';
import type { Walked } from './newest-first.js';

/**
 * Who acknowledged which message, by the commits of all machines: a tip says it only until the message is pruned, and this
 * machine's journal only of what it sent.
 */
export class MessageReaders {
  /** Each as `machine/agent`, in lower case. */
  readonly #readers = new Map<Ulid, Set<string>>();

  note({ handle, said }: Pick<Walked, 'handle' | 'said'>): void {
    if (said?.event !== 'ack' || said.agent === null) return;
    for (const id of said.messages) {
      const readers = this.#readers.get(id) ?? new Set();
      this.#readers.set(id, readers.add(`${handle}/${agentKey(said.agent)}`));
    }
  }

  /** Whether one of those that a sent message was for is among its readers. */
  acknowledged({ id, to }: Pick<EventLine, 'id' | 'to'>): boolean {
    const readers = id === undefined ? undefined : this.#readers.get(id);
    if (readers === undefined || to === undefined) return false;
    const [machine = '', agent] = to.split('/');
    if (machine === '*') return true;
    if (agent === undefined) return [...readers].some((reader) => reader.startsWith(`${machine}/`));
    return isAgentId(agent) && readers.has(`${machine}/${agentKey(agent)}`);
  }
}
