import type { Command } from 'commander';

/** What arguments of tools are called on the command line, where that is not their own name. */
const otherNames: ReadonlyMap<string, readonly string[]> = new Map([
  ['agent_id', ['agent', 'as']],
  ['msg_type', ['type']],
  ['from_agent', ['from']],
  ['in_reply_to', ['reply-to']],
  ['ttl_seconds', ['ttl']],
  ['message_ids', ['id']],
  ['wait_seconds', ['wait']],
  ['caps', ['cap']],
]);

/** The arguments and options of a command, and which of these were given. */
export type TypedCommand = Pick<Command, 'registeredArguments' | 'options' | 'opts'>;

/**
 * A tool's argument as it is typed in `command`: `ID` for a place in the line, `--id` for an option. Null where the command
 * has neither.
 */
export function typedName(argument: string, command: TypedCommand): string | null {
  const [part, field] = argument.split('.');
  if (part === 'payload') return payloadName(field, command);
  const whole = argument.replace(/\[\d+\]$/, '');
  const names = otherNames.get(whole) ?? [whole.replaceAll('_', '-')];
  const place = command.registeredArguments.find((each) => names.includes(each.name()));
  if (place !== undefined) return place.name().toUpperCase();
  return command.options.find(({ long }) => names.some((name) => long === `--${name}`))?.long ?? null;
}

/** `freeze --repo` and `send --message` are fields of a payload that nobody typed; one that was typed has its own names. */
function payloadName(field: string | undefined, command: TypedCommand): string | null {
  const takesPayload = command.options.some(({ long }) => long === '--payload');
  const sources = !takesPayload ? [field] : field === undefined ? ['message', 'payload', 'payload-file'] : [];
  const given: Readonly<Record<string, unknown>> = command.opts();
  const option = command.options.find(
    (each) => sources.some((name) => each.long === `--${name ?? ''}`) && given[each.attributeName()] !== undefined,
  );
  if (option !== undefined) return option.long ?? null;
  return field === 'message' && given['message'] !== undefined ? '--message' : null;
}
