import type { Command, Option } from 'commander';

export interface OptionModel {
  /** `--json` */
  flag: string;
  description: string;
  /** What may follow it: nothing, a file name, one of some words, or anything. */
  value: 'none' | 'file' | 'any' | readonly string[];
}
export interface CommandModel {
  name: string;
  description: string;
  options: OptionModel[];
  /** Words for the first argument. */
  words: readonly string[];
}
export interface CompletionModel {
  options: OptionModel[];
  commands: CommandModel[];
}

const fileOptions = new Set(['--dir', '--payload-file', '--html']);

function optionModel(option: Option): OptionModel {
  const flag = option.long ?? option.flags;
  let value: OptionModel['value'] = 'none';
  if (option.required || option.optional) value = option.argChoices ?? (fileOptions.has(flag) ? 'file' : 'any');
  return { flag, description: option.description, value };
}

/** Everything a shell can complete, read from the program itself. */
export function completionModel(program: Command): CompletionModel {
  const help: OptionModel = { flag: '--help', description: 'show help', value: 'none' };
  const optionsOf = (command: Command): OptionModel[] => [...command.options.map(optionModel), help];
  const commands = program.commands.map((command) => ({
    name: command.name(),
    description: command.summary(),
    options: optionsOf(command),
    words: command.registeredArguments[0]?.argChoices ?? [],
  }));
  const names = commands.map(({ name }) => name);
  const helpCommand = { name: 'help', description: 'show how to use a command', options: [help], words: names };
  return { options: optionsOf(program), commands: [...commands, helpCommand] };
}
