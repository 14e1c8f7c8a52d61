import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { discard, makeDurableFolder, sweepTemporary, temporaryPath } from './durable-fs.js';
import type { GitObject } from '../domain/git-object.js';
import type { Oid } from '../domain/ids.js';
import type { Fs } from './fs.js';
import type { GitEngine } from './git-engine.js';
import { hashObject } from './object-id.js';
import { PackIndexes } from './pack-index.js';
import { badPack, packCount, packEntries } from './pack-read.js';
import { packHeader, packedObject } from './pack-write.js';

export interface InstallPlace {
  fs: Fs;
  engine: GitEngine;
  /** Where packs are looked at before anyone can see them; on the same file system as the store. */
  quarantine: string;
  packFolder: string;
}

/**
 * Makes a pack of many objects part of the store, with an index of our own making: as it is, or with the bases that a
 * thin one leaves out because the store has them.
 * @throws MeshError `protocol_error`, `payload_too_large`.
 */
export async function installAsPack(
  received: Uint8Array,
  place: InstallPlace,
  options: { maxObjectBytes: number; readBase: (oid: Oid) => Promise<GitObject | null> },
): Promise<void> {
  const { fs, engine, quarantine } = place;
  const bases = new Set<Oid>();
  const whole = new Set<string>();
  for (const entry of packEntries(received, options)) {
    // A base id is 40 hex digits by the way it was read.
    if (entry.kind === 'ref delta') bases.add(entry.base as Oid);
    else if (entry.kind !== 'offset delta') whole.add(hashObject(entry.kind, entry.data));
  }
  const outside = [...bases].filter((base) => !whole.has(base));
  const pack = await completed(received, outside, options.readBase);
  const count = packCount(pack);
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
      if (!(await indexes.has(base))) throw badPack(`it leaves out ${base}, the base of one of its deltas`);
    }
    await publish(place, folder, name);
  } finally {
    await fs.removeAll(folder);
  }
}

/**
 * A pack in the store must be complete in itself. What is put in stands before all deltas, where the engine needs it;
 * the others name their bases by id or by distance, which stays.
 */
async function completed(
  pack: Uint8Array,
  bases: readonly Oid[],
  readBase: (oid: Oid) => Promise<GitObject | null>,
): Promise<Uint8Array> {
  const added: Uint8Array[] = [];
  for (const base of bases) {
    const object = await readBase(base);
    if (object !== null) added.push(await packedObject(object));
  }
  if (added.length === 0) return pack;
  const parts = [packHeader(packCount(pack) + added.length), ...added, pack.subarray(12, -20)];
  const sum = createHash('sha1');
  for (const part of parts) sum.update(part);
  return Buffer.concat([...parts, sum.digest()]);
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
