import { existsSync, readFileSync, readdirSync, statSync, utimesSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';

/** What a store consists of when nobody works on it. */
const belongs: readonly RegExp[] = [
  /^(?:HEAD|config|packed-refs)$/,
  /^objects\/(?:info\/.*|[0-9a-f]{2}\/[0-9a-f]{38}|pack\/pack-[0-9a-f]{40}\.(?:pack|idx|rev))$/,
  /^refs\/(?:heads|remotes|quarantine|mesh)\/(?!.*\.lock$).+$/,
  /^mesh\/(?:config(?:\.copy)?\.json|key|journal(?:\.checked)?|gitconfig|invites\.json|pins\.json|mentioned\.json|place\.json|waiting|wakes\.json)$/,
  /^mesh\/(?:sessions|activity|remotes|exports)\/(?!tmp_)[^/]+$/,
];

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory() || entry.name.endsWith('.lock'))
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Files in a store, and beside it, that are no part of it: locks, claims, temporary files, drafts of stores. */
export function strays(store: string): string[] {
  const inside = filesBelow(store).filter((path) => !belongs.some((form) => form.test(relative(store, path))));
  const halfPacks = filesBelow(join(store, 'objects'))
    .filter((path) => path.endsWith('.pack') && !existsSync(path.replace(/pack$/, 'idx')))
    .map((path) => `${path} (without its index)`);
  const beside = readdirSync(dirname(store))
    .filter((name) => name !== basename(store) && name.includes(basename(store)))
    .map((name) => join(dirname(store), name));
  return [...inside, ...halfPacks, ...beside];
}

/**
 * What git itself leaves in a repository when it is killed and what blocks a branch there for good: its locks. Half a push
 * (`tmp_objdir…`) harms nobody: since 2.39 git leaves that whenever it is ended by a signal, and prunes it later.
 */
export function gitLocks(repository: string): string[] {
  return filesBelow(repository).filter((path) => path.endsWith('.lock'));
}

/**
 * Makes what is in and beside a store, and the folders that it is in, as old as what the next worker or `sync` sweeps away
 * (10 minutes), also by a clock that is as wrong as any here.
 */
export function age(paths: readonly string[], store: string): void {
  const then = (Date.now() - 3_600_000) / 1000;
  for (const path of paths) {
    for (let real = path.replace(/ \(.*\)$/, ''); real.length > store.length; real = dirname(real)) {
      if (existsSync(real)) utimesSync(real, then, then);
    }
  }
}

/**
 * Makes git's locks in a remote as old as those of its own branch that a machine removes (10 minutes). What is younger
 * than `stillMs` may be held by a git that has not yet seen that whoever started it is gone.
 */
export function ageGitLocks(repository: string, { stillMs }: { stillMs: number }): void {
  const isOld = (path: string): boolean => {
    const made = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    return made !== undefined && Date.now() - made >= stillMs;
  };
  const old = gitLocks(repository).filter(isOld);
  age(old, repository);
}

/** Processes that this soak started, or that work in its folder: pid and command line. Linux only; else none. */
export function processesOf({ mark, root }: { mark: string; root: string }): { pid: number; command: string }[] {
  if (!existsSync('/proc/self/environ')) return [];
  const found: { pid: number; command: string }[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const command = fileOf(pid, 'cmdline').replaceAll('\0', ' ').trim();
    // A process without a command line has ended and waits to be reaped.
    if (command === '') continue;
    if (fileOf(pid, 'environ').includes(`SOAK_MARK=${mark}`) || command.includes(root)) found.push({ pid, command });
  }
  return found;
}

function fileOf(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    // It ended meanwhile, or is not ours to look at.
    return '';
  }
}
