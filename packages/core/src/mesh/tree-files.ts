import type { Oid } from '../domain/ids.js';
import { isMeshFolder } from '../domain/layout.js';
import { walkTree } from '../domain/tree-edit.js';
import type { Objects } from '../store/ports.js';

/**
 * Regular files below a folder of a tree (`folder` ends in `/`), at most `maxEntries`; anything else there is not the
 * mesh's, and what is in folders of others was never checked and is not looked into.
 */
export async function* regularFiles(
  objects: Objects,
  tree: Oid,
  folder: string,
  maxEntries: number,
): AsyncGenerator<{ path: string; oid: Oid }> {
  const walk = walkTree({ tree, readTree: (oid) => objects.tree(oid), prefix: folder, descend: isMeshFolder });
  let seen = 0;
  for await (const entry of walk) {
    seen += 1;
    if (seen > maxEntries) return;
    if (entry.mode === '100644') yield { path: entry.path, oid: entry.oid };
  }
}
