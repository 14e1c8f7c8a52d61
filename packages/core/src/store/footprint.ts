import { join } from 'node:path';
import type { Fs } from './fs.js';
import { freePacks } from './pack-sources.js';
import { isIndexName } from './pack-index-format.js';

/** What the objects of a store take of its disk. */
export interface Footprint {
  packs: number;
  /** Packs that nobody else looks after, so that maintenance may join them. */
  joinable: number;
  /** Objects in files of their own. */
  loose: number;
  /** Of all files with objects, packs' indexes included: their lengths, not the blocks they take. */
  bytes: number;
}

/** A look at every file with objects. */
export async function footprint({ fs, dir }: { fs: Fs; dir: string }): Promise<Footprint> {
  const folder = join(dir, 'objects');
  const found: Footprint = { packs: 0, joinable: 0, loose: 0, bytes: 0 };
  const add = async (path: string): Promise<void> => {
    found.bytes += (await fs.stat(path))?.size ?? 0;
  };
  for (const name of await fs.list(folder)) {
    const place = join(folder, name);
    if (name === 'pack') {
      found.joinable = (await freePacks(fs, place)).length;
      for (const file of await fs.list(place)) {
        if (isIndexName(file)) found.packs += 1;
        await add(join(place, file));
      }
    } else if (/^[0-9a-f]{2}$/.test(name)) {
      for (const file of await fs.list(place)) {
        if (!/^[0-9a-f]{38}$/.test(file)) continue;
        found.loose += 1;
        await add(join(place, file));
      }
    }
  }
  return found;
}
