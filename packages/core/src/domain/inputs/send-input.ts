import { MeshError } from '../../errors.js';
import type { AgentId, Ulid } from '../ids.js';
import { getKey } from '../json.js';
import { isMessageType } from '../message-type.js';
import type { JsonObject, MessageType } from '../records.js';
import { messageTypes } from '../records.js';
import type { Arguments } from './arguments.js';
import { plainLine, readArguments, wrongArgument } from './arguments.js';
import { refuseSecret } from '../secret-scan.js';
import { parsePayload } from './payload-input.js';

export interface SendInput {
  /** `*`, or a text that is looked up among the machines (it may be no valid handle: then it is unknown). */
  to: string;
  msg_type: MessageType;
  to_agent: AgentId | undefined;
  from_agent: AgentId | undefined;
  payload: JsonObject;
  in_reply_to: Ulid | number | undefined;
  /** The default where it was left out. */
  ttl_seconds: number;
  key: string | undefined;
}

/** Seconds that a message may live. */
export const messageTtlRange: { readonly min: 60; readonly max: 2_592_000 } = { min: 60, max: 2_592_000 };

/** Seconds: a week; a day for a freeze, which should not outlive the reason that was forgotten. */
export function defaultMessageTtl(type: MessageType): number {
  return type === 'freeze' ? 86_400 : 604_800;
}

const names = [
  'to',
  'msg_type',
  'to_agent',
  'from_agent',
  'payload',
  'in_reply_to',
  'ttl_seconds',
  'key',
  'allow_secret',
];

const secretWayOn = 'if it is none, or is meant for every reader, send it again with allow_secret: true';

/**
 * The order of the checks is part of the contract: the payload and its size, credentials in it, the type, the addressee,
 * the rest.
 * @throws MeshError `unknown_argument`, `invalid_argument`, `payload_too_large`, `secret_found`
 */
export function parseSendInput(input: unknown): SendInput {
  const given = readArguments('agent_send', names, input);
  const payload = parsePayload(given.given('payload'));
  const allowSecret = given.flag('allow_secret') ?? false;
  if (!allowSecret) refuseSecret(payload, 'payload', secretWayOn);
  const type = parseType(given);
  const to = given.required('to', given.text('to', { max: 200, filled: true }));
  const toAgent = given.agent('to_agent');
  if (to === '*' && toAgent !== undefined) {
    throw new MeshError(
      'invalid_argument',
      'to "*" reaches every machine and takes no to_agent: name one machine, or leave to_agent out',
    );
  }
  const parsed: SendInput = {
    to,
    msg_type: type,
    to_agent: toAgent,
    from_agent: given.agent('from_agent'),
    payload,
    in_reply_to: given.message('in_reply_to'),
    ttl_seconds: given.integer('ttl_seconds', messageTtlRange) ?? defaultMessageTtl(type),
    key: given.text('key', { max: 200, filled: true }),
  };
  // The other texts that are committed as they were given.
  const { from_agent, to_agent, key } = parsed;
  for (const [name, text] of Object.entries({ key, from_agent, to_agent })) {
    if (!allowSecret && text !== undefined) refuseSecret(text, name, secretWayOn);
  }
  checkFreeze(parsed);
  return parsed;
}

function parseType(given: Arguments): MessageType {
  const type = given.required('msg_type', given.raw('msg_type'));
  if (typeof type === 'string' && isMessageType(type)) return type;
  const types = messageTypes.join(', ');
  throw new MeshError('invalid_argument', wrongArgument('msg_type', `one of ${types}`, type).message, {
    data: { argument: 'msg_type', msg_types: [...messageTypes] },
  });
}

function checkFreeze({ msg_type: type, payload, in_reply_to: reply }: SendInput): void {
  if (type !== 'freeze' && type !== 'freeze-clear') return;
  const repo = getKey(payload, 'repo') ?? undefined;
  if (repo !== undefined && (typeof repo !== 'string' || repo.trim() === '')) {
    throw wrongArgument('payload.repo', 'the name of a repo (left out, a freeze covers every repo)', repo);
  }
  // It is compared with what a guard asks for, and shown in lines of its own.
  if (repo !== undefined) plainLine('payload.repo', repo);
  if (type === 'freeze-clear' && repo === undefined && reply === undefined) {
    throw new MeshError(
      'invalid_argument',
      'freeze-clear needs in_reply_to (the freeze to clear) or payload.repo (the same as the freeze named)',
    );
  }
}
