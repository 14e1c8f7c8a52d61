import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, chmod, chown, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { MeshError } from '@git-mesh/core';
import { factsOf, fileBehind, notAllowed, readText, told } from './config-file.js';
import type { FileChange } from './plan.js';

export interface ApplyOptions {
  /** A new file's permissions before the umask. */
  newMode: number;
  /** Who asks; undefined on Windows, where files have no owner of this kind. */
  uid: number | undefined;
}

const octal = (mode: number): string => `0${(mode & 0o777).toString(8)}`;

/**
 * @throws MeshError `forbidden` where one of the files may not be written. It is judged by the permissions themselves: the
 *   system lets root write everything, and a file that was made read-only is to stay as it is for root too.
 */
export async function requireWritable(changes: readonly FileChange[], { uid }: ApplyOptions): Promise<void> {
  for (const { path, before, after } of changes) {
    if (before === after) continue;
    const target = await fileBehind(path);
    const facts = await factsOf(target);
    if (facts !== null && (facts.mode & 0o200) === 0) {
      throw notAllowed(path, `it is read-only (mode ${octal(facts.mode)})`, 'make it writable by its owner');
    }
    // It is replaced by a new file, which would be this user's.
    if (facts !== null && uid !== undefined && uid !== 0 && facts.uid !== uid) {
      throw notAllowed(path, 'it is another user’s', 'ask its owner to do it');
    }
    let folder = dirname(target);
    let folderFacts = await factsOf(folder);
    while (folderFacts === null && dirname(folder) !== folder) {
      folder = dirname(folder);
      folderFacts = await factsOf(folder);
    }
    if (uid !== undefined && folderFacts !== null && (folderFacts.mode & 0o222) === 0) {
      throw notAllowed(path, `the folder ${folder} is read-only (mode ${octal(folderFacts.mode)})`, 'make it writable');
    }
    try {
      if (facts !== null) await access(target, constants.W_OK);
      await access(folder, constants.W_OK);
    } catch (error) {
      throw told(path, error);
    }
  }
}

/**
 * Makes the changes: each file as a whole or not at all, with its permissions and its owner, behind a link where it is
 * one. All that can fail for want of space or permission is done before the first file is replaced.
 *
 * @throws MeshError `forbidden` where a file may not be written, `conflict` where one was changed since it was read.
 */
export async function applyChanges(changes: readonly FileChange[], options: ApplyOptions): Promise<void> {
  await requireWritable(changes, options);
  const staged: { path: string; target: string; temporary: string | null }[] = [];
  try {
    for (const change of changes) {
      if (change.before === change.after) continue;
      const target = await fileBehind(change.path);
      const temporary = `${target}.${randomBytes(6).toString('hex')}.tmp`;
      staged.push({ path: change.path, target, temporary: change.after === null ? null : temporary });
      if (change.after !== null) await stage(change.path, { target, temporary, text: change.after, options });
    }
    for (const change of changes) await requireUnchanged(change);
    for (const { path, target, temporary } of staged) {
      // Gone already where another --remove runs.
      const step = temporary === null ? rm(target, { force: true }) : rename(temporary, target);
      await step.catch((error: unknown) => {
        throw told(path, error);
      });
    }
  } finally {
    for (const { temporary } of staged) if (temporary !== null) await rm(temporary, { force: true });
  }
}

async function stage(
  path: string,
  { target, temporary, text, options }: { target: string; temporary: string; text: string; options: ApplyOptions },
): Promise<void> {
  try {
    const facts = await factsOf(target);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(temporary, text, { flag: 'wx', mode: facts === null ? options.newMode : 0o600 });
    if (facts === null) return;
    if (options.uid !== undefined) await chown(temporary, facts.uid, facts.gid);
    await chmod(temporary, facts.mode & 0o7777);
  } catch (error) {
    throw told(path, error);
  }
}

/** Clients write their configurations too, and another setup may run. */
async function requireUnchanged({ path, before, after }: FileChange): Promise<void> {
  const now = await readText(path);
  if (now === before || now === after) return;
  throw new MeshError('conflict', `${path} was changed by another program meanwhile; nothing was changed: try again`);
}
