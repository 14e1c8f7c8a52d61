import { execFileSync } from 'node:child_process';
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../environment.js';
import { preload } from './preload.js';

const megabytes = 96;

/** The disk of one machine's store, which can be filled to its last byte. */
export interface SmallDisk {
  /** Where the machine's store is to be. */
  folder: string;
  /** A file system of its own, or writes that are made to fail. */
  kind: 'mounted' | 'injected';
  env: Environment;
  fill(): void;
  free(): void;
  /** Gives the disk back; `keep` leaves its files where they were. */
  close(options: { keep: boolean }): void;
}

/** A small file system in memory where this user may mount one, and else one whose writes can be made to fail. */
export function smallDisk(root: string): SmallDisk {
  const folder = join(root, 'disk');
  mkdirSync(folder, { recursive: true });
  return mount(folder) ? mounted(folder) : injected(root, folder);
}

function mount(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'ignore' });
    return true;
  } catch {
    // Not root, or no Linux: there is the other way.
    return false;
  }
}

function mounted(folder: string): SmallDisk {
  const ballast = join(folder, 'ballast');
  return {
    folder,
    kind: 'mounted',
    env: {},
    fill: () => {
      const file = openSync(ballast, 'w');
      // Ever smaller pieces, so that not a byte is left.
      for (let size = 1 << 20; size >= 1;) {
        if (!wrote(file, size)) size = Math.floor(size / 2);
      }
      closeSync(file);
    },
    free: () => {
      rmSync(ballast, { force: true });
    },
    close: ({ keep }) => {
      const copy = `${folder}.copy`;
      try {
        if (keep) cpSync(folder, copy, { recursive: true, preserveTimestamps: true });
      } finally {
        execFileSync('umount', ['-l', folder], { stdio: 'ignore' });
      }
      if (!keep) return;
      rmSync(folder, { recursive: true });
      renameSync(copy, folder);
    },
  };
}

function wrote(file: number, size: number): boolean {
  try {
    return writeSync(file, Buffer.alloc(size)) === size;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return false;
    throw error;
  }
}

function injected(root: string, folder: string): SmallDisk {
  const flag = join(root, 'disk-is-full');
  return {
    folder,
    kind: 'injected',
    env: { ...preload('full-disk'), SOAK_FULL_FILE: flag },
    fill: () => {
      writeFileSync(flag, '');
    },
    free: () => {
      if (existsSync(flag)) rmSync(flag);
    },
    close: () => undefined,
  };
}
