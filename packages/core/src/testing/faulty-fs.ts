import type { Fs, FsFile } from '../store/fs.js';

/** The steps that change a disk, in the order in which a program takes them. */
export type FsStep =
  | 'open'
  | 'write'
  | 'truncate'
  | 'sync'
  | 'syncFolder'
  | 'rename'
  | 'link'
  | 'unlink'
  | 'makeFolder'
  | 'removeFolder'
  | 'removeAll';

/** One fault. Steps are counted from 1, over all kinds that `steps` names (all where it is left out). */
export interface Fault {
  steps?: readonly FsStep[];
  at: number;
  when: 'before' | 'after' | 'half';
  /**
   * `exit`: the process is gone at once, as by kill -9. An errno name: the step throws it; with `half`, a write has
   * written half of its bytes before.
   */
  what: 'exit' | 'ENOSPC' | 'EROFS' | 'EACCES' | 'EIO' | 'ENOTSUP';
  /** Whether later steps fail too (a full disk stays full). */
  lasting?: boolean;
}

/**
 * A disk that fails where it is told to. `steps()` tells how many steps were taken so far; `onStep` is called before each
 * that counts.
 */
export function faultyFs(
  fs: Fs,
  fault: Fault,
  onStep: (kind: FsStep, path: string) => void = () => undefined,
): Fs & { steps(): number } {
  let count = 0;
  const fail = (path: string): never => {
    // A signal that cannot be caught, so that no `finally` runs.
    if (fault.what === 'exit') process.kill(process.pid, 'SIGKILL');
    throw Object.assign(new Error(`${fault.what}: injected, ${path}`), { code: fault.what });
  };
  const step = async <T>(
    kind: FsStep,
    path: string,
    work: () => Promise<T>,
    half: () => Promise<unknown> = work,
  ): Promise<T> => {
    if (fault.steps !== undefined && !fault.steps.includes(kind)) return work();
    count += 1;
    onStep(kind, path);
    const due = fault.lasting === true ? count >= fault.at : count === fault.at;
    if (!due) return work();
    if (fault.when === 'before') return fail(path);
    const result = fault.when === 'half' ? await half() : await work();
    fail(path);
    return result as T;
  };
  const file = (path: string, inner: FsFile): FsFile => ({
    ...inner,
    write: (bytes) =>
      step(
        'write',
        path,
        () => inner.write(bytes),
        () => inner.write(bytes.subarray(0, Math.floor(bytes.length / 2))),
      ),
    truncate: (length) => step('truncate', path, () => inner.truncate(length)),
    sync: () => step('sync', path, () => inner.sync()),
  });
  return {
    ...fs,
    steps: () => count,
    open: async (path, how, mode) => {
      if (how === 'read') return fs.open(path, how, mode);
      // A file that was opened before the fault is not left open.
      const opened: FsFile[] = [];
      try {
        await step('open', path, async () => opened.push(await fs.open(path, how, mode)));
      } catch (error) {
        await Promise.all(opened.map((inner) => inner.close()));
        throw error;
      }
      const [inner] = opened;
      if (inner === undefined) throw new Error('a file was opened without a handle');
      return file(path, inner);
    },
    syncFolder: (path) => step('syncFolder', path, () => fs.syncFolder(path)),
    rename: (from, to) => step('rename', to, () => fs.rename(from, to)),
    link: (existing, path) => step('link', path, () => fs.link(existing, path)),
    unlink: (path) => step('unlink', path, () => fs.unlink(path)),
    makeFolder: (path) => step('makeFolder', path, () => fs.makeFolder(path)),
    removeFolder: (path) => step('removeFolder', path, () => fs.removeFolder(path)),
    removeAll: (path) => step('removeAll', path, () => fs.removeAll(path)),
  };
}
