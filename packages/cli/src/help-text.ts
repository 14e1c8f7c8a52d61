import type { AddHelpTextContext } from 'commander';

type HelpText = (context: AddHelpTextContext) => string;

/** Columns beside the term below which a description goes under it. */
const narrowest = 24;
const indent = 6;

/** Text at the end of a help page, wrapped like the page itself. */
export function wrapped(text: string): HelpText {
  return ({ command }) => {
    const help = command.createHelp();
    return help.boxWrap(text, help.helpWidth ?? 80);
  };
}

/** The examples below a command's help: what to type, and what it is for. What is typed is never wrapped. */
export function examples(...pairs: readonly (readonly [command: string, purpose: string])[]): HelpText {
  return ({ command }) => {
    const help = command.createHelp();
    const columns = help.helpWidth ?? 80;
    const width = Math.max(...pairs.map(([typed]) => typed.length));
    const longest = Math.max(...pairs.map(([, purpose]) => purpose.length));
    const beside = width <= 60 && width + longest + '  $   # '.length <= columns;
    const lines = pairs.map(([typed, purpose]) => {
      if (beside) return `  $ ${typed.padEnd(width)}  # ${purpose}`;
      const said = help.boxWrap(purpose, Math.max(1, columns - 4)).replaceAll('\n', '\n  # ');
      return `  # ${said}\n  $ ${typed}`;
    });
    return `\nExamples:\n${lines.join('\n')}\n`;
  };
}

/** What commander's own layout needs on a terminal so narrow that no room is left beside the terms. */
export function narrowItem(
  help: { helpWidth?: number | undefined; boxWrap: (text: string, width: number) => string },
  { term, termWidth, description }: { term: string; termWidth: number; description: string },
): string | null {
  const columns = help.helpWidth ?? 80;
  if (description === '' || columns - termWidth - 4 >= narrowest) return null;
  const text = help.boxWrap(description, Math.max(1, columns - indent)).replaceAll('\n', `\n${' '.repeat(indent)}`);
  return `  ${term}\n${' '.repeat(indent)}${text}`;
}
