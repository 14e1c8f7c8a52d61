import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '@git-mesh/core';

/** Whether the repository belongs to this process's user: git then asks for no safe.directory. Windows tells of no owner. */
export async function isOwn(path: string): Promise<boolean> {
  const user = process.geteuid?.();
  try {
    return user !== undefined && (await stat(path)).uid === user;
  } catch (error) {
    if (errnoOf(error) !== undefined) return false;
    throw error;
  }
}

/** Whether a service in the repository may need the user's safe.directory: for itself, or for what its hooks run. */
export async function needsTrust(path: string): Promise<boolean> {
  try {
    if (!(await isOwn(path))) return true;
    const [config, hooks] = await Promise.all([readFile(join(path, 'config'), 'utf8'), hooksIn(path)]);
    return hooks || /hookspath|^\s*\[\s*include/im.test(config);
  } catch (error) {
    // What cannot be looked at is git's to tell.
    if (errnoOf(error) !== undefined) return true;
    throw error;
  }
}

async function hooksIn(path: string): Promise<boolean> {
  try {
    return (await readdir(join(path, 'hooks'))).some((name) => !name.endsWith('.sample'));
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}
