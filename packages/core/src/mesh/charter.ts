import { decodeCharter } from '../domain/charter.js';
import { maxFileBytes } from '../domain/codec.js';
import { charterPath, charterRef } from '../domain/layout.js';
import type { CharterRecord } from '../domain/records.js';
import { lookupPath } from '../domain/tree-edit.js';
import type { Oid } from '../domain/ids.js';
import { MeshError } from '../errors.js';
import type { Objects } from '../store/ports.js';
import type { Store } from '../store/store.js';

/**
 * The charter in a commit's tree. Its errors name the file.
 * @throws MeshError `format_too_new` for a mesh of a later format; `not_found` where there is no mesh.yaml;
 * `invalid_argument` where that cannot be read; what reading the objects throws.
 */
export async function readCharter(objects: Objects, commit: Oid): Promise<CharterRecord> {
  const { tree } = await objects.commit(commit);
  const entry = await lookupPath({ root: tree, readTree: (oid) => objects.tree(oid), path: charterPath });
  if (entry?.mode !== '100644') {
    throw new MeshError('not_found', `The branch _charter holds no ${charterPath}: this repository is no mesh.`);
  }
  const bytes = await objects.blob(entry.oid, maxFileBytes);
  try {
    return decodeCharter(bytes);
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    const message = `${charterPath} on the branch _charter: ${error.message}`;
    throw new MeshError(error.errorName, message, { data: error.data, cause: error });
  }
}

/** The founder as the store's copy of the charter states it; null where there is none. @throws as {@link readCharter} does */
export async function readFounder(store: Store): Promise<CharterRecord['founder'] | null> {
  const tip = await store.refs.read(charterRef(store.config.ref_prefix));
  return tip === null ? null : (await readCharter(store.objects, tip)).founder;
}

/** As {@link readFounder}; null where the copy cannot be read, too. */
export async function founderOf(store: Store): Promise<CharterRecord['founder'] | null> {
  try {
    return await readFounder(store);
  } catch (error) {
    if (error instanceof MeshError) return null;
    throw error;
  }
}

/** The public key of {@link founderOf}. */
export async function founderKey(store: Store): Promise<string | null> {
  return (await founderOf(store))?.key ?? null;
}
