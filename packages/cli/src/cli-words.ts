import type { MeshError } from '@git-mesh/core';
import { typedName } from './typed-name.js';
import type { TypedCommand } from './typed-name.js';

/** What an argument of a tool is on the command line. Those of a plain name (`role`) are options of that name. */
const argumentNames: ReadonlyMap<string, string> = new Map([
  ['agent_id', 'AGENT'],
  ['msg_type', 'TYPE'],
  ['to', 'TO'],
  ['to_agent', '--to-agent'],
  ['from_agent', '--from'],
  ['in_reply_to', '--reply-to'],
  ['ttl_seconds', '--ttl'],
  ['message_ids', 'ID'],
  ['wait_seconds', '--wait'],
  ['herdr_pane', '--herdr-pane'],
  ['caps', '--cap'],
]);

/** The use cases speak of tools, since agents read them most. In order: a later one sees what an earlier one left. */
const phrases: readonly (readonly [RegExp, string])[] = [
  [/\b[Cc]all agent_\w+ again with confirm: true\b/g, 'Run it again without --dry-run'],
  [/\bcall agent_(checkin|checkout|inbox|ack)(?: with confirm: true)?(?!\w)/g, 'run git mesh $1 AGENT'],
  [/\bwith allow_secret: true(?!\w)/g, 'with --allow-secret'],
  [/\bagent_mesh_status\b/g, 'git mesh status'],
  [/\bagents_list\b/g, 'git mesh agents'],
  [/\bagent_(checkin|checkout|inbox|ack|send|sent)\b/g, 'git mesh $1'],
  [/\bmessage_id values\b/g, 'message numbers'],
  [/\bmessage_id\b/g, 'message number'],
  [/\bagent_id\b/g, 'agent name'],
];

/** A use case's text for a person at a command line. What it quotes stays as it is. */
export function cliWords(text: string): string {
  return text
    .split(/("(?:[^"\\]|\\.)*")/)
    .map((part, i) => (i % 2 === 1 ? part : reworded(part)))
    .join('');
}

function reworded(text: string): string {
  let words = text;
  for (const [pattern, replacement] of phrases) words = words.replace(pattern, replacement);
  return words.replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (word) => argumentNames.get(word) ?? word);
}

/** `command` is the one that was typed. */
const nameOf = (argument: string, command: TypedCommand | undefined): string =>
  (command === undefined ? null : typedName(argument, command)) ??
  argumentNames.get(argument.replace(/\[\d+\]$/, '')) ??
  (argument.includes('.') ? argument : `--${argument.replace(/\[\d+\]$/, '')}`);

/** An error's message as the command line says it: the argument at its head is the one that was typed in `command`. */
export function cliMessage({ message, data }: Pick<MeshError, 'message' | 'data'>, command?: TypedCommand): string {
  const { argument, place, agent_id: agent } = data;
  const text = typeof argument === 'string' ? headed(argument, message, command) : placed(place, message, command);
  return typeof agent === 'string'
    ? text.replace('run git mesh checkin AGENT', () => `run git mesh checkin ${agent}`)
    : text;
}

function headed(argument: string, message: string, command: TypedCommand | undefined): string {
  if (message.startsWith(`${argument}: `)) return nameOf(argument, command) + cliWords(message.slice(argument.length));
  // It begins with what was given, as `"x" is no agent name`.
  return message.startsWith('"') ? `${nameOf(argument, command)}: ${cliWords(message)}` : cliWords(message);
}

/** Where something was found: `"label" looks like…`. */
function placed(place: unknown, message: string, command: TypedCommand | undefined): string {
  const quoted = typeof place === 'string' ? JSON.stringify(place) : null;
  const name = typeof place === 'string' && command !== undefined ? typedName(place, command) : null;
  return quoted === null || name === null || !message.startsWith(quoted)
    ? cliWords(message)
    : name + cliWords(message.slice(quoted.length));
}
