import { dirname, join } from 'node:path';
import { MeshError } from '../errors.js';
import type { Logger } from '../logger.js';
import { configPath, readConfigOrCopy } from './config.js';
import { readIfThere } from './durable-fs.js';
import type { Fs } from './fs.js';
import { checkRepositoryFormat } from './git-config.js';
import { mendRepository } from './mend-repository.js';

export const storeAt = (dir: string): string => `the store at ${dir}`;

/** What is at or above `dir` and is no folder, so that no store can be at `dir`; null where nothing is in the way. */
async function obstacle(fs: Fs, dir: string): Promise<string | null> {
  for (let at = dir; ; at = dirname(at)) {
    const stat = await fs.stat(at);
    if (stat !== null) return stat.kind === 'folder' ? null : at;
    if (dirname(at) === at) return null;
  }
}

export const elsewhere = 'choose another folder with --dir (or GIT_MESH_DIR, or git config mesh.dir)';

/** @throws MeshError `no_mesh`, `store_damaged`, `store_unusable` where no store can be opened; mends what may be written anew. */
export async function checkPlace(fs: Fs, dir: string, logger: Logger): Promise<void> {
  const blocked = await obstacle(fs, dir);
  if (blocked !== null) {
    throw new MeshError('no_mesh', `no mesh at ${dir}, and none can be there: ${blocked} is no folder; ${elsewhere}`, {
      data: { store: dir },
    });
  }
  const isStore = (await fs.stat(join(dir, 'mesh', 'key'))) !== null || (await fs.stat(configPath(dir))) !== null;
  if (isStore) await mendPlace(fs, dir, logger);
  const config = await readIfThere(fs, join(dir, 'config'));
  if (!isStore && (config === null || (await fs.stat(join(dir, 'mesh'))) === null)) {
    throw new MeshError(
      'no_mesh',
      `no mesh at ${dir}: start one with git mesh init, or join one with git mesh join URL`,
      {
        data: { store: dir },
      },
    );
  }
  for (const needed of ['HEAD', 'objects', 'refs']) {
    if (config !== null && (await fs.stat(join(dir, needed))) !== null) continue;
    throw new MeshError(
      'store_damaged',
      `the store at ${dir} has no ${config === null ? 'config' : needed}: put it back from a backup (git init --bare in the folder restores empty parts), or move the folder away and join the mesh under a new handle`,
    );
  }
  checkRepositoryFormat(Buffer.from(config ?? []).toString('utf8'));
}

/** Before git, or we, take it for no repository. */
async function mendPlace(fs: Fs, dir: string, logger: Logger): Promise<void> {
  try {
    const mended = await mendRepository(fs, dir, await readConfigOrCopy(fs, dir));
    if (mended.length > 0) logger.warn(`the store at ${dir} had lost its ${mended.join(' and ')}: written anew`);
  } catch (error) {
    // What is wrong then is said by the checks that follow.
    if (!(error instanceof MeshError)) throw error;
  }
}

/** @throws MeshError `mesh_exists`, `store_unusable` where no store can be made. */
export async function checkVacant(fs: Fs, place: string): Promise<void> {
  const blocked = await obstacle(fs, dirname(place));
  if (blocked !== null) {
    throw new MeshError('store_unusable', `no store can be made at ${place}: ${blocked} is no folder; ${elsewhere}`);
  }
  const stat = await fs.stat(place);
  if (stat === null) return;
  if ((await fs.stat(configPath(place))) !== null) {
    throw new MeshError('mesh_exists', `${place} is a store already: see git mesh status, or choose another --dir`);
  }
  if (stat.kind === 'folder' && (await fs.list(place)).length === 0) return;
  throw new MeshError(
    'store_unusable',
    `${place} is ${stat.kind === 'folder' ? 'a folder with other things in it' : 'no folder'}: expected nothing there or an empty folder; choose another --dir`,
  );
}
