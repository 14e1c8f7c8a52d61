import { mkdir, readFile, realpath, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { cannotWrite, writeWhole } from '../write-whole.js';
import type { FileChange } from './plan.js';

/** The text of a file; null where there is none. */
export async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isNone(error)) return null;
    throw error;
  }
}

/** Each file as a whole or not at all, with its mode, and behind a link where it is one. */
export async function applyChange({ path, before, after }: FileChange): Promise<void> {
  if (after === before) return;
  try {
    if (after === null) {
      await rm(path);
      return;
    }
    await mkdir(dirname(path), { recursive: true });
    const target = before === null ? path : await realpath(path);
    await writeWhole(target, after, { mode: before === null ? 0o600 : (await stat(target)).mode & 0o777 });
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

const isNone = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';
