import type { CommandModel, CompletionModel, OptionModel } from './model.js';

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function argument({ flag, description, value }: OptionModel): string {
  const label = description.replaceAll(/[[\]\\:]/g, String.raw`\$&`);
  const name = flag.replace(/^--/, '');
  let action = '';
  if (Array.isArray(value)) action = `:${name}:(${value.join(' ')})`;
  else if (value === 'file') action = `:${name}:_files`;
  else if (value === 'any') action = `:${name}: `;
  return quoted(`*${flag}[${label}]${action}`);
}

function commandCase({ name, options, words }: CommandModel): string {
  const first = words.length === 0 ? `'*: :'` : quoted(`1:${name}:(${words.join(' ')})`);
  return `    ${name}) _arguments ${[...options.map(argument), first].join(' ')} ;;`;
}

export function zshScript(model: CompletionModel): string {
  const names = model.commands.map(({ name, description }) => quoted(`${name}:${description.replaceAll(':', '\\:')}`));
  return `#compdef git-mesh
# zsh completion for git-mesh: eval "$(git-mesh completion zsh)" after compinit, or this file as _git-mesh in fpath
_git-mesh() {
  local curcontext="$curcontext" state line
  local -a commands
  commands=(${names.join(' ')})
  _arguments -C ${model.options.map(argument).join(' ')} '1: :->command' '*:: :->rest'
  case $state in
    command) _describe -t commands 'git-mesh command' commands; return ;;
    rest) ;;
    *) return ;;
  esac
  case $line[1] in
${model.commands.map(commandCase).join('\n')}
  esac
}
if [ "$funcstack[1]" = _git-mesh ]; then _git-mesh "$@"; else compdef _git-mesh git-mesh; fi
`;
}
