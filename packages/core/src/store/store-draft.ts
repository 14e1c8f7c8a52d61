import { randomBytes } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { MeshError } from '../errors.js';
import { discard, readIfThere } from './durable-fs.js';
import type { Fs } from './fs.js';
import { ownIdentity, provenDead } from './identity.js';
import { isIdentity } from './local-shapes.js';
import { parseJson } from './shape.js';

/** A draft that names no maker may be one whose maker is about to write its name: it gets this long. */
const unnamedAfterMs = 10 * 60_000;

/** Beside the store's place, on the same file system, under a name that nothing else has. */
export function draftPath(place: string): string {
  return `${place}.tmp-${randomBytes(6).toString('hex')}`;
}

/** Where a draft names the process that makes it, so that others can tell when nobody does any more. */
const makerPath = (dir: string): string => join(dir, 'mesh', 'maker.json');

/** First of all in a draft: what is killed before it is swept by its age alone. */
export async function nameMaker(fs: Fs, draft: string): Promise<void> {
  const file = await fs.open(makerPath(draft), 'new');
  try {
    await file.write(Buffer.from(JSON.stringify(await ownIdentity())));
  } finally {
    await file.close();
  }
}

/** A store in its place has no maker any more. */
export async function forgetMaker(fs: Fs, dir: string): Promise<boolean> {
  if ((await fs.stat(makerPath(dir))) === null) return false;
  await discard(fs, makerPath(dir));
  return true;
}

/**
 * Removes the drafts beside `place` whose makers are proven dead, or which name none and are older than 10 minutes. Safe
 * beside a process that makes one. Gives their number.
 */
export async function sweepDrafts(fs: Fs, place: string): Promise<number> {
  let removed = 0;
  for (const name of await namesBeside(fs, place)) {
    if (!name.startsWith(`${basename(place)}.tmp-`) || !/\.tmp-[0-9a-f]{12}$/.test(name)) continue;
    const draft = join(dirname(place), name);
    if (!(await isAbandoned(fs, draft))) continue;
    await fs.removeAll(draft);
    removed += 1;
  }
  return removed;
}

async function namesBeside(fs: Fs, place: string): Promise<string[]> {
  try {
    return await fs.list(dirname(place));
  } catch (error) {
    // A folder that may be entered but not listed holds a store as well as any other.
    if (error instanceof MeshError && error.errorName === 'store_unusable') return [];
    throw error;
  }
}

async function isAbandoned(fs: Fs, draft: string): Promise<boolean> {
  const bytes = await readIfThere(fs, makerPath(draft));
  const maker = bytes === null ? undefined : parseJson(bytes);
  if (isIdentity(maker)) return provenDead(maker);
  const stat = await fs.stat(draft);
  // File times are compared with the system's clock, which set them.
  if (stat?.kind !== 'folder' || Date.now() - stat.mtimeMs < unnamedAfterMs) return false;
  // Whoever has a folder of such a name for something else keeps it.
  return (await fs.list(draft)).every((entry) => draftEntries.has(entry) || entry.startsWith('tmp_mesh_'));
}

const draftEntries: ReadonlySet<string> = new Set(['objects', 'refs', 'mesh', 'config', 'HEAD']);
