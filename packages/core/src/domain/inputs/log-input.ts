import type { AgentId, EpochMillis, Handle, Ulid } from '../ids.js';
import { parseHandle } from '../ids.js';
import { isMessageType } from '../message-type.js';
import type { MessageType } from '../records.js';
import { messageTypes } from '../records.js';
import type { Arguments } from './arguments.js';
import { readArguments, wrongArgument } from './arguments.js';

export interface LogInput {
  agent: AgentId | undefined;
  machine: Handle | undefined;
  repo: string | undefined;
  type: MessageType | undefined;
  since: EpochMillis | undefined;
  until: EpochMillis | undefined;
  grep: string | undefined;
  /** A message's number here, or its ULID. */
  message: Ulid | number | undefined;
  unacked: boolean;
  limit: number | undefined;
}

const names = ['agent', 'machine', 'repo', 'type', 'since', 'until', 'grep', 'message', 'unacked', 'limit'];

/**
 * Times may be given as an age (`90s`, `15m`, `2h`, `3d`, `1w`), a date (UTC) or an ISO 8601 time (UTC where it names no
 * zone).
 * @throws MeshError `invalid_argument`, `unknown_argument`
 */
export function parseLogInput(input: unknown, options: { now: EpochMillis }): LogInput {
  const given = readArguments('log', names, input);
  const machine = given.text('machine', { max: 200 });
  return {
    agent: given.agent('agent'),
    machine: machine === undefined ? undefined : parseHandle(machine, { argument: 'machine' }),
    repo: given.text('repo', { max: 200, filled: true }),
    type: parseType(given),
    since: parseTime(given, 'since', options.now),
    until: parseTime(given, 'until', options.now),
    grep: given.text('grep', { max: 500, filled: true }),
    message: given.message('message'),
    unacked: given.flag('unacked') ?? false,
    limit: given.integer('limit', { min: 1, max: 1_000_000 }),
  };
}

function parseType(given: Arguments): MessageType | undefined {
  const type = given.text('type', { max: 200 });
  if (type === undefined || isMessageType(type)) return type;
  throw wrongArgument('type', `one of ${messageTypes.join(', ')}`, type);
}

const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

function parseTime(given: Arguments, name: string, now: EpochMillis): EpochMillis | undefined {
  const text = given.text(name, { max: 40 });
  if (text === undefined) return undefined;
  const age = /^(\d{1,6})([smhdw])$/.exec(text);
  if (age !== null) return now - Number(age[1]) * unitMs[age[2] as keyof typeof unitMs];
  const match = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)(Z|[-+]\d{2}:\d{2})?)?$/.exec(text);
  const at = match === null ? Number.NaN : Date.parse(`${match[1] ?? ''}T${match[2] ?? '00:00'}${match[3] ?? 'Z'}`);
  if (!Number.isNaN(at) && realDate(match?.[1] ?? '')) return at;
  throw wrongArgument(name, 'an age (15m, 2h, 3d), a date (2026-12-02) or a time (2026-12-02T05:00:00Z)', text);
}

/** Date.parse takes the 31st of February for a day in March. */
function realDate(date: string): boolean {
  const at = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(date);
}
