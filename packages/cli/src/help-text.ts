/** The examples below a command's help: what to type, and what it is for. */
export function examples(...pairs: readonly (readonly [command: string, purpose: string])[]): string {
  const width = Math.max(...pairs.map(([command]) => command.length));
  const lines = pairs.map(([command, purpose]) =>
    width > 60 ? `  # ${purpose}\n  $ ${command}` : `  $ ${command.padEnd(width)}  # ${purpose}`,
  );
  return `\nExamples:\n${lines.join('\n')}\n`;
}
