import type { Command } from 'commander';
import { UsageError } from './usage-error.js';

/** Controls, line breaks, and what turns the direction of text around: no name, reason or filter has any. */
const acting = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
/** What stands for a place or a name: empty, as from an unset variable of a script, it would mean another one. */
const places = new Set(['file', 'dir', 'url', 'name', 'remote', 'prefix']);
/** What may hold any character: paths, payloads, and an invitation that was pasted in pieces. */
const free = new Set(['file', 'dir', 'url', 'json']);

interface Given {
  /** As errors call it: `--repo`, or `<file>`. */
  shown: string;
  /** The placeholder of its help: `repo` of `--repo <repo>`. */
  kind: string;
  value: unknown;
}

/**
 * What holds for the texts of every command, before anything is opened.
 * @throws UsageError that names the option or argument.
 */
export function checkGiven(command: Command): void {
  for (const { shown, kind, value } of given(command)) {
    const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
    for (const text of texts) {
      if (typeof text !== 'string') continue;
      if (places.has(kind) && text.trim() === '') throw new UsageError(`${shown} is empty: expected a ${kind}`);
      // A message is text of as many lines as it likes.
      if (free.has(kind) || shown === '--message' || !acting.test(text)) continue;
      throw new UsageError(`${shown}: expected one line of text without control characters or changes of direction`);
    }
  }
}

function* given(command: Command): Iterable<Given> {
  for (const holder of [command, command.parent]) {
    if (holder === null) continue;
    const values: Readonly<Record<string, unknown>> = holder.opts();
    for (const option of holder.options) {
      const kind = /[<[]([\w-]+)/.exec(option.flags)?.[1] ?? '';
      yield { shown: option.long ?? option.flags, kind, value: values[option.attributeName()] };
    }
  }
  for (const [i, argument] of command.registeredArguments.entries()) {
    const value: unknown = argument.variadic ? command.args.slice(i) : command.args[i];
    yield { shown: `<${argument.name()}>`, kind: argument.name(), value };
  }
}
