import { join } from 'node:path';
import { discard, makeDurableFolder, sweepTemporary, temporaryPath } from './durable-fs.js';
import type { Oid } from '../domain/ids.js';
import type { Fs } from './fs.js';
import type { GitEngine } from './git-engine.js';
import { PackIndexes } from './pack-index.js';
import { badPack, packCount, packEntries } from './pack-read.js';

export interface InstallPlace {
  fs: Fs;
  engine: GitEngine;
  /** Where packs are looked at before anyone can see them; on the same file system as the store. */
  quarantine: string;
  packFolder: string;
}

/**
 * Makes a pack of many objects part of the store as it is, with an index of our own making.
 * @throws MeshError `protocol_error`, `payload_too_large`.
 */
export async function installAsPack(
  pack: Uint8Array,
  place: InstallPlace,
  limits: { maxObjectBytes: number },
): Promise<void> {
  const { fs, engine, quarantine } = place;
  const count = packCount(pack);
  const bases = new Set<string>();
  for (const entry of packEntries(pack, limits)) if (entry.kind === 'ref delta') bases.add(entry.base);
  await makeDurableFolder(fs, quarantine);
  await sweepTemporary(fs, quarantine);
  const folder = temporaryPath(quarantine);
  await fs.makeFolder(folder);
  try {
    const name = `pack-${Buffer.from(pack.subarray(-20)).toString('hex')}`;
    await writeSynced(fs, join(folder, `${name}.pack`), pack);
    const indexed = await index(engine, folder, `${name}.pack`);
    if (indexed !== count)
      throw badPack(`${count - indexed} of its ${count} objects do not resolve or are there twice`);
    const indexes = new PackIndexes(fs, folder);
    for (const base of bases) {
      if (!(await indexes.has(base as Oid))) throw badPack(`it leaves out ${base}, the base of one of its deltas`);
    }
    await publish(place, folder, name);
  } finally {
    await fs.removeAll(folder);
  }
}

async function index(engine: GitEngine, folder: string, name: string): Promise<number> {
  try {
    return await engine.indexPack(folder, name);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw badPack(`it cannot be indexed (${error.message})`);
  }
}

async function publish({ fs, packFolder }: InstallPlace, folder: string, name: string): Promise<void> {
  // git's index is made read-only like the pack; the engine wrote it without syncing.
  const made = await fs.readFile(join(folder, `${name}.idx`));
  const index = join(folder, 'index');
  await writeSynced(fs, index, made);
  await fs.makeFolder(packFolder);
  // Do not reorder: git takes an index without its pack for damage, and looks at no pack without an index.
  await fs.rename(join(folder, `${name}.pack`), join(packFolder, `${name}.pack`));
  await fs.rename(index, join(packFolder, `${name}.idx`));
  await fs.syncFolder(packFolder);
}

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
