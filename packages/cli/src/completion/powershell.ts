import type { CompletionModel } from './model.js';

// PowerShell takes typographic quotes for quotes too.
const quoted = (text: string): string => `'${text.replaceAll(/['\u2018-\u201b]/g, '$&$&')}'`;
const entry = (word: string, description: string): string => `@(${quoted(word)}, ${quoted(description)})`;

export function powershellScript(model: CompletionModel): string {
  const table = (name: string, entries: readonly string[]): string =>
    `    ${quoted(name)} = @(\n      ,${entries.join('\n      ,')}\n    )`;
  const options = (list: CompletionModel['options']): string[] => list.map((o) => entry(o.flag, o.description));
  const commands = model.commands.map(({ name, options: own, words }) =>
    table(name, [...words.map((word) => entry(word, word)), ...options(own)]),
  );
  const top = table('', [...model.commands.map((c) => entry(c.name, c.description)), ...options(model.options)]);
  const valued = [model, ...model.commands].flatMap((c) =>
    c.options.filter((o) => o.value !== 'none').map((o) => o.flag),
  );
  const choices = [model, ...model.commands].flatMap((c) =>
    c.options.flatMap(({ flag, value }) =>
      Array.isArray(value) ? [`    ${quoted(flag)} = @(${value.map(quoted).join(', ')})`] : [],
    ),
  );
  return `# PowerShell completion for git-mesh: git-mesh completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName 'git-mesh' -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $table = @{
${[top, ...commands].join('\n')}
  }
  $valued = @(${[...new Set(valued)].map(quoted).join(', ')})
  $choices = @{
${[...new Set(choices)].join('\n')}
  }
  $command = ''
  $skip = $false
  $previous = ''
  foreach ($element in @($commandAst.CommandElements | Select-Object -Skip 1)) {
    if ($element.Extent.EndOffset -ge $cursorPosition) { break }
    $word = $element.ToString()
    $previous = $word
    if ($skip) { $skip = $false; continue }
    if ($valued -contains $word) { $skip = $true; continue }
    if ($command -eq '' -and -not $word.StartsWith('-')) { $command = $word }
  }
  if ($choices.ContainsKey($previous)) {
    return $choices[$previous] | Where-Object { $_ -like "$wordToComplete*" }
  }
  if ($valued -contains $previous) { return }
  if (-not $table.ContainsKey($command)) { return }
  $table[$command] | Where-Object { $_[0] -like "$wordToComplete*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_[0], $_[0], 'ParameterValue', $_[1])
  }
}
`;
}
