import type { Oid } from '../domain/ids.js';
import { walkTree } from '../domain/tree-edit.js';
import type { Objects } from '../store/ports.js';

/** Regular files below a folder of a tree (`folder` ends in `/`); anything else there is not the mesh's. */
export async function* regularFiles(
  objects: Objects,
  tree: Oid,
  folder: string,
  maxEntries: number,
): AsyncGenerator<{ path: string; oid: Oid }> {
  const walk = walkTree({ tree, readTree: (oid) => objects.tree(oid), prefix: folder, maxEntries, maxDepth: 8 });
  for await (const entry of walk) {
    if (entry.mode === '100644') yield { path: entry.path, oid: entry.oid };
  }
}
