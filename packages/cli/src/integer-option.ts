import { InvalidArgumentError } from 'commander';

/** Reads an option's value as a whole number; commander's error names the option. Ranges are the use cases' to check. */
export function wholeNumber(text: string): number {
  const value = Number(text);
  if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(value)) {
    throw new InvalidArgumentError('Expected a whole number.');
  }
  return value;
}

/** Collects an option that may be given several times. */
export function collected(value: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), value];
}

/** A TCP port; 0 stands for any that is free. */
export function portNumber(text: string): number {
  const value = wholeNumber(text);
  if (value < 0 || value > 65_535) throw new InvalidArgumentError('Expected a port, 0 to 65535.');
  return value;
}
