import { readFileSync } from 'node:fs';

/** True while the process runs; one that ended but was not yet reaped by its parent (a zombie) does not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
    throw error;
  }
  if (process.platform !== 'linux') return true;
  const state = stateOf(pid);
  return state !== null && state !== 'Z';
}

/** True while a process is held up by SIGSTOP. Linux only; elsewhere false. */
export function isStopped(pid: number): boolean {
  return process.platform === 'linux' && stateOf(pid) === 'T';
}

/** Linux's letter for what a process does; null where there is none of that pid. */
function stateOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3);
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')) return null;
    throw error;
  }
}
