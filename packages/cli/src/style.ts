import type { Environment } from './runtime.js';

/** Paints text for a terminal; every function is the identity where colour is off. */
export interface Style {
  bold: (text: string) => string;
  dim: (text: string) => string;
  red: (text: string) => string;
  green: (text: string) => string;
  yellow: (text: string) => string;
  cyan: (text: string) => string;
}

const plain = (text: string): string => text;
const paint =
  (on: number, off: number) =>
  (text: string): string =>
    text === '' ? text : `\u001b[${on}m${text}\u001b[${off}m`;

export const plainStyle: Style = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain, cyan: plain };
const ansiStyle: Style = {
  bold: paint(1, 22),
  dim: paint(2, 22),
  red: paint(31, 39),
  green: paint(32, 39),
  yellow: paint(33, 39),
  cyan: paint(36, 39),
};

/** Colour only on a terminal and without NO_COLOR (no-color.org): what is piped on is for programs, whatever is set. */
export function chooseStyle(isTerminal: boolean, env: Environment): Style {
  if ((env['NO_COLOR'] ?? '') !== '') return plainStyle;
  return isTerminal && env['TERM'] !== 'dumb' ? ansiStyle : plainStyle;
}
