import { MeshError, isAncestor } from '@git-mesh/core';
import type { CommitObject, Objects, Oid } from '@git-mesh/core';

/** A commit that came from elsewhere; null where it is not here, or no commit that can be read: then nothing goes on from it. */
export async function readableCommit(objects: Objects, oid: Oid): Promise<CommitObject | null> {
  if (!(await objects.has(oid))) return null;
  try {
    return await objects.commit(oid);
  } catch (error) {
    if (error instanceof MeshError) return null;
    throw error;
  }
}

/** Whether `newer` is `older` or goes on from it; never where one of them cannot be read. */
export async function leadsTo(objects: Objects, older: Oid, newer: Oid): Promise<boolean> {
  if (older === newer) return true;
  if ((await readableCommit(objects, older)) === null || (await readableCommit(objects, newer)) === null) return false;
  return isAncestor(objects, older, newer);
}
