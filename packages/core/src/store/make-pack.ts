import type { GitObject } from '../domain/git-object.js';
import type { Oid } from '../domain/ids.js';
import { makeDelta } from './pack-delta.js';
import { encodePack } from './pack-write.js';
import type { PackPart } from './pack-write.js';

/** Deltas of deltas that a reader has to go through: git's own are as deep. */
const maxDeltaDepth = 40;

/** A version 2 pack of exactly these objects; `bases` as in the port `Objects`. */
export async function makePack(
  read: (oid: Oid) => Promise<GitObject>,
  oids: readonly Oid[],
  bases: ReadonlyMap<Oid, Oid>,
): Promise<Uint8Array> {
  const parts: PackPart[] = [];
  const depths = new Map<Oid, number>();
  for (const oid of new Set(oids)) {
    const object = await read(oid);
    const base = bases.get(oid);
    const depth = base === undefined ? undefined : depths.get(base);
    // Only on what stands before it in this pack, so that deltas can go round in no circle.
    if (base !== undefined && depth !== undefined && depth < maxDeltaDepth) {
      const delta = makeDelta((await read(base)).data, object.data);
      if (2 * delta.length < object.data.length) {
        depths.set(oid, depth + 1);
        parts.push({ base, delta });
        continue;
      }
    }
    depths.set(oid, 0);
    parts.push(object);
  }
  return encodePack(parts);
}
