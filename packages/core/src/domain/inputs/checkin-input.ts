import type { AgentId } from '../ids.js';
import { ttlRange } from '../presence.js';
import { refuseSecret } from '../secret-scan.js';
import type { Arguments } from './arguments.js';
import { readArguments, wrongArgument } from './arguments.js';

/**
 * What agent_checkin was given. Undefined is what was left out (and keeps its value in a repeat check-in); null is an
 * empty text, which clears the value.
 */
export interface CheckinInput {
  agent_id: AgentId;
  role: string | null | undefined;
  repo: string | null | undefined;
  caps: string[] | undefined;
  status: string | null | undefined;
  ttl_seconds: number | undefined;
  herdr_pane: string | undefined;
  confirm: boolean;
}

const names = ['agent_id', 'role', 'repo', 'caps', 'status', 'ttl_seconds', 'herdr_pane', 'confirm'];
const maxCaps = 32;
const maxCapLength = 64;

/** @throws MeshError `invalid_argument`, `unknown_argument`, `secret_found` */
export function parseCheckinInput(input: unknown): CheckinInput {
  const given = readArguments('agent_checkin', names, input);
  const parsed: CheckinInput = {
    agent_id: given.required('agent_id', given.agent('agent_id')),
    role: clearable(given.text('role', { max: 200 })),
    repo: clearable(given.text('repo', { max: 200 })),
    caps: parseCaps(given),
    status: clearable(given.text('status', { max: 500 })),
    ttl_seconds: given.integer('ttl_seconds', ttlRange),
    herdr_pane: parsePane(given),
    confirm: given.flag('confirm') ?? false,
  };
  // What is published; the pane is not.
  const { agent_id, role, repo, caps, status } = parsed;
  for (const [name, text] of Object.entries({ agent_id, role, repo, caps, status })) {
    if (text !== undefined && text !== null) refuseSecret(text, name, 'if it is none, word it otherwise');
  }
  return parsed;
}

function clearable(text: string | undefined): string | null | undefined {
  return text?.trim() === '' ? null : text;
}

function parseCaps(given: Arguments): string[] | undefined {
  const value = given.raw('caps');
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw wrongArgument('caps', 'a list of texts', value);
  if (value.length > maxCaps) throw wrongArgument('caps', `at most ${maxCaps} items`, value.length);
  return value.map((item: unknown, i) => {
    const name = `caps[${i}]`;
    const cap = readArguments('caps', [name], { [name]: item }).text(name, { max: maxCapLength, filled: true });
    if (cap === undefined) throw wrongArgument(name, 'a text', item);
    return cap;
  });
}

/** It becomes an argument of a command: no option, no control character. */
function parsePane(given: Arguments): string | undefined {
  const pane = given.text('herdr_pane', { max: 200, filled: true });
  if (pane?.startsWith('-') === true)
    throw wrongArgument('herdr_pane', 'a pane id, which does not begin with "-"', pane);
  return pane;
}
