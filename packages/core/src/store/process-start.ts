import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { isErrno } from './fs.js';

const toolTimeoutMs = 5_000;

/** What Linux says of a process: its start in clock ticks since boot, and whether it has ended but is not reaped. */
export interface LinuxProcess {
  ticks: string;
  ended: boolean;
}

/** Null when there is no such process. */
export async function linuxProcess(pid: number | 'self'): Promise<LinuxProcess | null> {
  const stat = await textOf(`/proc/${pid}/stat`);
  if (stat === null) return null;
  // The name in parentheses may hold anything, even ") R 1": fields are counted after the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  const ticks = fields[19];
  return ticks === undefined ? null : { ticks, ended: state === 'Z' || state === 'X' };
}

/** When a process started, in milliseconds since 1970; null when the platform does not tell. */
export async function startTime(pid: number, platform: string): Promise<number | null> {
  const [command, args] =
    platform === 'win32'
      ? ([
          'powershell.exe',
          [
            '-NoProfile',
            '-NonInteractive',
            '-Command',
            `(Get-Process -Id ${pid}).StartTime.ToUniversalTime().ToString('o')`,
          ],
        ] as const)
      : (['ps', ['-o', 'lstart=', '-p', String(pid)]] as const);
  try {
    const env = { ...process.env, LC_ALL: 'C', LANG: 'C' };
    const { stdout } = await promisify(execFile)(command, [...args], {
      timeout: toolTimeoutMs,
      windowsHide: true,
      env,
    });
    const at = Date.parse(stdout.trim());
    return Number.isNaN(at) ? null : at;
  } catch (error) {
    // The tool is missing, too slow, or knows no such process: nothing is proven by that.
    if (error instanceof Error) return null;
    throw error;
  }
}

/** The trimmed text of a small file of the system's; null where it cannot be read. */
export async function textOf(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ESRCH', 'EINVAL')) return null;
    throw error;
  }
}
