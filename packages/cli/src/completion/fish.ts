import type { CompletionModel, OptionModel } from './model.js';

const quoted = (text: string): string => `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;

function optionLine(condition: string, { flag, description, value }: OptionModel): string {
  let argument = '';
  if (Array.isArray(value)) argument = ` -x -a ${quoted(value.join(' '))}`;
  else if (value === 'file') argument = ' -r -F';
  else if (value === 'any') argument = ' -x';
  return `complete -c git-mesh -n ${quoted(condition)} -l ${flag.replace(/^--/, '')}${argument} -d ${quoted(description)}`;
}

export function fishScript(model: CompletionModel): string {
  const lines = ['# fish completion for git-mesh: git-mesh completion fish | source', 'complete -c git-mesh -f'];
  const before = '__fish_use_subcommand';
  for (const option of model.options) lines.push(optionLine(before, option));
  for (const { name, description, options, words } of model.commands) {
    const inside = `__fish_seen_subcommand_from ${name}`;
    lines.push(`complete -c git-mesh -n ${quoted(before)} -a ${name} -d ${quoted(description)}`);
    for (const option of options) lines.push(optionLine(inside, option));
    if (words.length > 0) lines.push(`complete -c git-mesh -n ${quoted(inside)} -a ${quoted(words.join(' '))}`);
  }
  return `${lines.join('\n')}\n`;
}
