import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { GitObject } from '../domain/git-object.js';
import type { Oid } from '../domain/ids.js';
import { discard, makeDurableFolder, sweepTemporary, temporaryPath } from './durable-fs.js';
import type { Fs } from './fs.js';
import { makePackIndex } from './pack-index-write.js';
import { badPack, packCount } from './pack-read.js';
import type { PackLimits } from './pack-read.js';
import { packHeader, packedObject } from './pack-write.js';

export interface InstallPlace {
  fs: Fs;
  /** Where packs are written before anyone can see them; on the same file system as the store. */
  quarantine: string;
  packFolder: string;
}

interface InstallOptions extends PackLimits {
  /** Gives the bases of deltas that a thin pack leaves out; null for what the store does not have. */
  readBase: (oid: Oid) => Promise<GitObject | null>;
}

/**
 * Makes a pack of many objects part of the store, with an index of our own making: two files and three fsyncs however
 * many objects there are. It stays as it is, or gets the bases that a thin one leaves out because the store has them.
 * @throws MeshError `protocol_error`, `payload_too_large`.
 */
export async function installAsPack(
  received: Uint8Array,
  { fs, quarantine, packFolder }: InstallPlace,
  options: InstallOptions,
): Promise<void> {
  const { pack, index } = await indexed(received, options);
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

async function indexed(
  received: Uint8Array,
  options: InstallOptions,
): Promise<{ pack: Uint8Array; index: Uint8Array }> {
  const first = await makePackIndex(received, options);
  if ('index' in first) return { pack: received, index: first.index };
  const pack = await completed(received, first.missing, options.readBase);
  const second = await makePackIndex(pack, options);
  if ('index' in second) return { pack, index: second.index };
  throw badPack(`it leaves out ${second.missing.join(', ')}, of which objects in it are deltas`);
}

/** A pack in the store must be complete in itself. What is put in stands first; the distances between the others stay. */
async function completed(
  pack: Uint8Array,
  bases: readonly Oid[],
  readBase: InstallOptions['readBase'],
): Promise<Uint8Array> {
  const added: Uint8Array[] = [];
  for (const base of bases) {
    const object = await readBase(base);
    if (object !== null) added.push(await packedObject(object));
  }
  const parts = [packHeader(packCount(pack) + added.length), ...added, pack.subarray(12, -20)];
  const sum = createHash('sha1');
  for (const part of parts) sum.update(part);
  return Buffer.concat([...parts, sum.digest()]);
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
