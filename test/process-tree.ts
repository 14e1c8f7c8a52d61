import { readFileSync, readdirSync } from 'node:fs';

/**
 * What a process and all that it started are at: a line each with what it runs, its state, the processor time it took and
 * where in the kernel it waits. Linux only; elsewhere empty.
 */
export function processTree(root: number): string {
  if (process.platform !== 'linux') return '';
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const stats = new Map(all.flatMap((name) => statOf(Number(name))));
  const lines: string[] = [];
  const add = (pid: number, depth: number): void => {
    const stat = stats.get(pid);
    if (stat === undefined) return;
    const waits = read(pid, 'wchan');
    const line = `${pid} ${stat.state} ${stat.cpuMs} ms, waits in ${waits}: ${read(pid, 'cmdline').replaceAll('\0', ' ')}`;
    lines.push('  '.repeat(depth) + line.slice(0, 300));
    for (const [child, { parent }] of stats) if (parent === pid) add(child, depth + 1);
  };
  add(root, 0);
  return lines.join('\n');
}

interface Stat {
  state: string;
  parent: number;
  cpuMs: number;
}

function statOf(pid: number): [number, Stat][] {
  // The name, which may hold anything, ends with the last parenthesis; proc(5) numbers the fields from 1.
  const fields = read(pid, 'stat').split(') ').at(-1)?.split(' ') ?? [];
  const [state, parent] = fields;
  if (state === undefined || parent === undefined) return [];
  const ticks = Number(fields[11]) + Number(fields[12]);
  return [[pid, { state, parent: Number(parent), cpuMs: ticks * 10 }]];
}

/** Empty where the process is gone. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8').trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error) return '';
    throw error;
  }
}
