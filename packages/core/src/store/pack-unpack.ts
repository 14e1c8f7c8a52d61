import { decodeCommit, decodeTree, maxTreeBytes } from '../domain/git-object.js';
import type { GitObject } from '../domain/git-object.js';
import type { Oid } from '../domain/ids.js';
import { MeshError } from '../errors.js';
import type { NewObject } from './loose-objects.js';
import { hashObject } from './object-id.js';
import { applyDelta } from './pack-delta.js';
import type { PackEntry, PackLimits } from './pack-read.js';
import { InflatedBytes, badPack, deltaSizes, packEntries } from './pack-read.js';

/**
 * Every object of a (small) pack, whole. `readBase` gives the bases of deltas that the pack leaves out.
 * @throws MeshError `protocol_error` where a delta does not resolve, `payload_too_large`.
 */
export async function unpack(
  pack: Uint8Array,
  options: PackLimits & { readBase: (oid: Oid) => Promise<GitObject | null> },
): Promise<NewObject[]> {
  const byOffset = new Map<number, NewObject>();
  const byId = new Map<string, NewObject>();
  const add = (offset: number, { type, data }: GitObject): void => {
    const object = { oid: hashObject(type, data), type, data };
    byOffset.set(offset, object);
    byId.set(object.oid, object);
  };
  const baseOf = async (entry: PackEntry, outside: boolean): Promise<GitObject | null> => {
    if (entry.kind === 'offset delta') return byOffset.get(entry.base) ?? null;
    if (entry.kind !== 'ref delta') return null;
    // A base id is 40 hex digits by the way it was read.
    return byId.get(entry.base) ?? (outside ? options.readBase(entry.base as Oid) : null);
  };
  let waiting: PackEntry[] = [];
  const inflated = new InflatedBytes(options);
  for (const entry of packEntries(pack, { ...options, inflated })) {
    if (entry.kind === 'offset delta' || entry.kind === 'ref delta') waiting.push(entry);
    else add(entry.offset, { type: entry.kind, data: entry.data });
  }
  // A base may stand behind its delta; bases outside of the pack are asked for only when nothing inside helps.
  for (let outside = false; waiting.length > 0;) {
    const still: PackEntry[] = [];
    for (const entry of waiting) {
      const base = await baseOf(entry, outside);
      if (base === null) {
        still.push(entry);
        continue;
      }
      // Before it is made: all of them are in memory together.
      inflated.add(deltaSizes(entry.data).result);
      add(entry.offset, { type: base.type, data: applyDelta(base.data, entry.data) });
    }
    if (still.length === waiting.length) {
      if (outside) throw badPack(`${still.length} of its objects are deltas of an object that is not there`);
      outside = true;
    }
    waiting = still;
  }
  return [...byId.values()];
}

/**
 * @throws MeshError `protocol_error` when an object names one that is neither here nor, by `has`, in the store. The
 * parents of `edges` may be missing.
 */
export async function requireComplete(
  objects: readonly NewObject[],
  { edges, has }: { edges: ReadonlySet<Oid>; has: (oid: Oid) => Promise<boolean> },
): Promise<void> {
  const here = new Set(objects.map(({ oid }) => oid));
  const links = objects.flatMap((object) => linksOf(object, edges.has(object.oid)));
  const outside = new Set(links.filter((oid) => !here.has(oid)));
  for (const oid of outside) {
    if (!(await has(oid))) throw badPack(`it is incomplete: object ${oid} is neither in it nor in the store`);
  }
}

function linksOf({ type, data }: NewObject, isEdge: boolean): Oid[] {
  try {
    if (type === 'commit') {
      const { tree, parents } = decodeCommit(data);
      return isEdge ? [tree] : [...parents, tree];
    }
    // A gitlink's commit is in another repository.
    if (type === 'tree' && data.length <= maxTreeBytes)
      return decodeTree(data).flatMap(({ mode, oid }) => (mode === '160000' ? [] : [oid]));
    return [];
  } catch (error) {
    // One odd object must not keep the others out: whoever walks the branch it is on will refuse that branch.
    if (error instanceof MeshError) return [];
    throw error;
  }
}
