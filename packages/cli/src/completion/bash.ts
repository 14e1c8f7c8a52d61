import type { CompletionModel, OptionModel } from './model.js';

const flags = (options: readonly OptionModel[]): string => options.map(({ flag }) => flag).join(' ');

/** Works in bash 3.2 too (macOS), and behind git's own completion for `git mesh`. */
export function bashScript(model: CompletionModel): string {
  const everyOption = [model, ...model.commands].flatMap(({ options }) => options);
  const takes = (kind: 'file' | 'any'): string =>
    [...new Set(everyOption.filter(({ value }) => value === kind).map(({ flag }) => flag))].join('|');
  const choices = everyOption.flatMap(({ flag, value }) =>
    Array.isArray(value) ? [`    ${flag}) COMPREPLY=( $(compgen -W "${value.join(' ')}" -- "$cur") ); return ;;`] : [],
  );
  const valued = [...new Set(everyOption.filter(({ value }) => value !== 'none').map(({ flag }) => flag))].join('|');
  const cases = model.commands.map(
    ({ name, options, words }) => `    ${name}) words="${[...words, flags(options)].join(' ')}" ;;`,
  );
  return `# bash completion for git-mesh: eval "$(git-mesh completion bash)"
_git_mesh() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" command="" words="" i
  case "$prev" in
${[...new Set(choices)].join('\n')}
    ${takes('file')}) COMPREPLY=( $(compgen -f -- "$cur") ); return ;;
    ${takes('any')}) COMPREPLY=(); return ;;
  esac
  i=1
  if [ "\${COMP_WORDS[0]##*/}" = git ]; then
    while [ "$i" -lt "$COMP_CWORD" ] && [ "\${COMP_WORDS[i]}" != mesh ]; do i=$((i + 1)); done
    i=$((i + 1))
  fi
  while [ "$i" -lt "$COMP_CWORD" ]; do
    case "\${COMP_WORDS[i]}" in
      ${valued}) i=$((i + 1)) ;;
      -*) ;;
      *) command="\${COMP_WORDS[i]}"; break ;;
    esac
    i=$((i + 1))
  done
  case "$command" in
    "") words="${model.commands.map(({ name }) => name).join(' ')} ${flags(model.options)}" ;;
${cases.join('\n')}
  esac
  COMPREPLY=( $(compgen -W "$words" -- "$cur") )
}
complete -F _git_mesh git-mesh
`;
}
