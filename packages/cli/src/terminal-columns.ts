import type { Runtime } from './runtime.js';

/**
 * The width that people's text may take: COLUMNS where it is set to a number, as git has it, else the terminal's own;
 * undefined where stdout is no terminal, and where a terminal says that it has no columns at all.
 */
export function terminalColumns({ stdout, env }: Pick<Runtime, 'stdout' | 'env'>): number | undefined {
  if (!stdout.isTerminal) return undefined;
  const wanted = /^[1-9]\d{0,4}$/.exec(env['COLUMNS'] ?? '');
  const columns = wanted === null ? (stdout.columns ?? 0) : Number(wanted[0]);
  return columns > 0 ? columns : undefined;
}
