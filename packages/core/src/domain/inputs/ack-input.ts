import type { AgentId, Ulid } from '../ids.js';
import { integerIn, messageName, readArguments, wrongArgument } from './arguments.js';

export interface AckInput {
  agent_id: AgentId;
  /** Each once, in the order given; numbers alone unless ULIDs are allowed. Empty with `all`. */
  message_ids: (Ulid | number)[];
  /** Everything in the inbox. */
  all: boolean;
  confirm: boolean;
}

const maxMessages = 1000;

/**
 * `allowUlids` (the command line) also allows `all: true` in place of message_ids.
 * @throws MeshError `invalid_argument`, `unknown_argument`
 */
export function parseAckInput(input: unknown, options: { allowUlids?: boolean } = {}): AckInput {
  const allowUlids = options.allowUlids ?? false;
  const names = ['agent_id', 'message_ids', 'confirm', ...(allowUlids ? ['all'] : [])];
  const given = readArguments('agent_ack', names, input);
  const agent = given.required('agent_id', given.agent('agent_id'));
  const confirm = given.flag('confirm') ?? false;
  const all = allowUlids && (given.flag('all') ?? false);
  const ids = given.raw('message_ids');
  if (all) {
    if (ids !== undefined && !(Array.isArray(ids) && ids.length === 0)) {
      throw wrongArgument('message_ids', 'nothing beside all', ids);
    }
    return { agent_id: agent, message_ids: [], all, confirm };
  }
  const list: unknown = given.required('message_ids', ids);
  if (!Array.isArray(list) || list.length === 0 || list.length > maxMessages) {
    throw wrongArgument('message_ids', `a list of 1-${maxMessages} message numbers from agent_inbox`, list);
  }
  const parsed = list.map((item: unknown, i) => parseId(item, `message_ids[${i}]`, allowUlids));
  return { agent_id: agent, message_ids: [...new Set(parsed)], all, confirm };
}

function parseId(item: unknown, name: string, allowUlids: boolean): Ulid | number {
  if (typeof item === 'number') return integerIn(name, item, { min: 1, max: Number.MAX_SAFE_INTEGER });
  if (allowUlids && typeof item === 'string') return messageName(name, item);
  throw wrongArgument(name, 'a message_id from agent_inbox (a whole number)', item);
}
