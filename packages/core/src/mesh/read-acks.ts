import { agentKey, isAgentId } from '../domain/ids.js';
import type { Ulid } from '../domain/ids.js';
import type { EventLine } from '../domain/results.js';
import type { MeshContext } from './context.js';
import { newestFirst } from './newest-first.js';

/** By `machine/agent`, in lower case. */
type Readers = ReadonlySet<string>;

/**
 * Who acknowledged which message, by the commits of all machines: a tip says it only until the message is pruned, and this
 * machine's journal only of what it sent. `since` bounds the walk: nothing that is asked about was sent before.
 */
export async function readAcks(ctx: MeshContext, since: number | undefined): Promise<ReadonlyMap<Ulid, Readers>> {
  const acks = new Map<Ulid, Set<string>>();
  for await (const { handle, said } of newestFirst(ctx, { machine: undefined, since }, {})) {
    if (said?.event !== 'ack' || said.agent === null) continue;
    for (const id of said.messages) {
      const readers = acks.get(id) ?? new Set();
      acks.set(id, readers.add(`${handle}/${agentKey(said.agent)}`));
    }
  }
  return acks;
}

/** Whether one of those it was for is among the readers of what `line` tells the sending of. */
export function isAcked({ to }: EventLine, readers: Readers | undefined): boolean {
  if (readers === undefined || to === undefined) return false;
  const [machine = '', agent] = to.split('/');
  if (machine === '*') return true;
  if (agent === undefined) return [...readers].some((reader) => reader.startsWith(`${machine}/`));
  return isAgentId(agent) && readers.has(`${machine}/${agentKey(agent)}`);
}
