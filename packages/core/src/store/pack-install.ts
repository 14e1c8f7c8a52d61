import { join } from 'node:path';
import { discard, makeDurableFolder, sweepTemporary, temporaryPath } from './durable-fs.js';
import type { Fs } from './fs.js';
import { makePackIndex } from './pack-index-write.js';

export interface InstallPlace {
  fs: Fs;
  /** Where packs are written before anyone can see them; on the same file system as the store. */
  quarantine: string;
  packFolder: string;
}

/**
 * Makes a pack of many objects part of the store as it is, with an index of our own making: two files and three fsyncs
 * however many objects there are.
 * @throws MeshError `protocol_error`, `payload_too_large`.
 */
export async function installAsPack(
  pack: Uint8Array,
  { fs, quarantine, packFolder }: InstallPlace,
  limits: { maxObjectBytes: number },
): Promise<void> {
  const index = await makePackIndex(pack, limits);
  await makeDurableFolder(fs, quarantine);
  await sweepTemporary(fs, quarantine);
  const folder = temporaryPath(quarantine);
  await fs.makeFolder(folder);
  try {
    const name = `pack-${Buffer.from(pack.subarray(-20)).toString('hex')}`;
    for (const [kind, bytes] of [['pack', pack] as const, ['idx', index] as const]) {
      await writeSynced(fs, join(folder, `${name}.${kind}`), bytes);
    }
    await fs.makeFolder(packFolder);
    // Do not reorder: git takes an index without its pack for damage, and looks at no pack without an index.
    for (const kind of ['pack', 'idx']) {
      await fs.rename(join(folder, `${name}.${kind}`), join(packFolder, `${name}.${kind}`));
    }
    await fs.syncFolder(packFolder);
  } finally {
    await fs.removeAll(folder);
  }
}

/** Read-only, as git's own. */
async function writeSynced(fs: Fs, path: string, bytes: Uint8Array): Promise<void> {
  const file = await fs.open(path, 'new', 0o444);
  try {
    await file.write(bytes);
    await file.sync();
  } catch (error) {
    await discard(fs, path);
    throw error;
  } finally {
    await file.close();
  }
}
