import { join } from 'node:path';
import { discard, openTemporary } from './durable-fs.js';
import type { OpenTemporary } from './durable-fs.js';
import type { Fs } from './fs.js';
import { isErrno } from './fs.js';
import type { PackFiles } from './pack-write.js';

/**
 * Puts a pack and its index in the folder of packs. All of its objects appear at once, and are durable when this
 * resolves; on failure none is there.
 */
export async function publishPack(fs: Fs, folder: string, files: PackFiles): Promise<void> {
  const open: OpenTemporary[] = [];
  try {
    // Do not interleave: both files are made before the first is synced (see openTemporary).
    for (const bytes of [files.pack, files.index]) open.push(await makeIn(fs, folder, bytes));
    const synced = await Promise.allSettled(open.map(({ file }) => file.sync()));
    for (const result of synced) if (result.status === 'rejected') throw result.reason;
  } catch (error) {
    await Promise.allSettled(open.map(({ file }) => file.close()));
    await Promise.all(open.map(({ path }) => discard(fs, path)));
    throw error;
  }
  for (const { file } of open) await file.close();
  await rename(fs, folder, { temporaries: open.map(({ path }) => path), name: files.name });
  await fs.syncFolder(folder);
}

async function makeIn(fs: Fs, folder: string, bytes: Uint8Array): Promise<OpenTemporary> {
  try {
    return await openTemporary(fs, folder, bytes, { mode: 0o444 });
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
    // git leaves no empty folder behind, and a backup may have dropped one.
    await fs.makeFolder(folder);
    return openTemporary(fs, folder, bytes, { mode: 0o444 });
  }
}

async function rename(
  fs: Fs,
  folder: string,
  { temporaries, name }: { temporaries: readonly string[]; name: string },
): Promise<void> {
  const [pack = '', index = ''] = temporaries;
  const place = join(folder, `${name}.pack`);
  const wasThere = (await fs.stat(place)) !== null;
  try {
    // Do not reorder: git takes an index without its pack for damage, and looks at no pack without an index.
    await fs.rename(pack, place);
    await fs.rename(index, join(folder, `${name}.idx`));
  } catch (error) {
    await Promise.all([pack, index].map((path) => discard(fs, path)));
    // In this order, and the index too: some file systems report a rename as failed that took place.
    if (!wasThere) for (const path of [join(folder, `${name}.idx`), place]) await discard(fs, path);
    throw error;
  }
}
