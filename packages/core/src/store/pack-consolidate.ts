import type { Fs } from './fs.js';
import { enoughOfAClass, isDense, knownPacks } from './pack-classes.js';
import type { KnownPacks } from './pack-classes.js';
import { publishPack } from './pack-publish.js';
import { readPacks, removePack } from './pack-sources.js';
import type { ReadPack } from './pack-sources.js';
import { joinPacked } from './pack-write.js';
import type { PackFiles, PackedEntry } from './pack-write.js';

/** One run reads so much at most, but for the last pack: a run needs twice that of memory, and holds the lock for a second or so. */
const maxRunBytes = 32 * 1024 * 1024;

/**
 * The packs of the smallest size class that has enough of them to be joined; null where none has, or where somebody else
 * looks after the packs. Dense ones are maintenance's to join. Cheap with the same `known` each time.
 */
export async function packsToJoin(fs: Fs, folder: string, known: KnownPacks): Promise<string[] | null> {
  const packs = await knownPacks(fs, folder, known);
  const group = await enoughOfAClass(packs, async (pack) => !(await isDense(fs, folder, pack)));
  return group === null ? null : group.map(({ stem }) => stem);
}

/**
 * Every commit and every fetch leaves a small pack, and whoever reads has to look into all of them. This joins the packs
 * of a size class once there are many, so that an object is copied a few times a class and the packs stay few. Objects
 * are copied as they stand; none is dropped, reachable or not. Only under the store lock. Gives the pack that was made.
 *
 * The old packs are removed at once, as `git repack -d` does: readers that meet a vanished pack look again.
 */
export async function consolidatePacks(
  fs: Fs,
  folder: string,
  known: KnownPacks = new Map(),
): Promise<PackFiles | null> {
  const group = await packsToJoin(fs, folder, known);
  if (group === null) return null;
  const { entries, taken } = joined(await readPacks(fs, folder, { stems: group, maxBytes: maxRunBytes }));
  if (taken.length < 2) return null;
  const made = joinPacked(entries);
  await publishPack(fs, folder, made);
  for (const name of taken) {
    known.delete(name);
    if (name !== made.name) await removePack(fs, folder, name);
  }
  return made;
}

/** Each object once. A delta may point back by a number of bytes, so a pack with deltas goes in as one piece or not at all. */
function joined(packs: readonly ReadPack[]): { entries: PackedEntry[]; taken: string[] } {
  const entries = new Map<string, PackedEntry>();
  const taken: string[] = [];
  for (const pack of [...packs].sort((a, b) => Number(b.hasDeltas) - Number(a.hasDeltas))) {
    const added = pack.entries.filter(({ oid }) => !entries.has(oid.toString('latin1')));
    if (pack.hasDeltas && added.length < pack.entries.length) continue;
    for (const entry of added) entries.set(entry.oid.toString('latin1'), entry);
    taken.push(pack.name);
  }
  return { entries: [...entries.values()], taken };
}
