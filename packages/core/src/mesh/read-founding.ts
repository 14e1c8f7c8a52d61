import type { Oid, RefName } from '../domain/ids.js';
import type { CharterRecord } from '../domain/records.js';
import { MeshError } from '../errors.js';
import type { Objects } from '../store/ports.js';
import { sshVerifier } from '../store/ssh-signature.js';
import { readCharter } from './charter.js';

/** Nobody has a reason to put even one commit on top of a charter: past this none is looked for below. */
export const maxLaterCommits = 1_000;

/**
 * The charter of a mesh, where `commit` is its founding: without a parent, and signed by the very key that it states as the
 * founder's. Whoever may push can put anything on that branch; only such a commit may be taken by a store that has none.
 *
 * @throws MeshError `conflict` where it is a later commit, naming the root under it; `forbidden` where its founder did not
 * sign it; `format_too_new`, and what else {@link readCharter} throws.
 */
export async function readFounding(objects: Objects, commit: Oid, ref: RefName): Promise<CharterRecord> {
  const { parents, gpgsig, signedBytes } = await objects.commit(commit);
  if (parents.length > 0) throw await laterCommit(objects, commit, ref);
  const charter = await readCharter(objects, commit);
  const { handle, key } = charter.founder;
  if (gpgsig !== null && (await sshVerifier(key)({ armoured: gpgsig, data: signedBytes }))) return charter;
  const what = gpgsig === null ? 'is not signed' : 'is not signed by that key';
  throw new MeshError(
    'forbidden',
    `The charter at ${ref} is not believed: commit ${commit} names the key of ${handle} as its founder's and ${what}, so ` +
      'somebody else wrote it. A member puts the right one back from its own store, after comparing it with another ' +
      `member's (git --git-dir STORE rev-parse ${ref}): git --git-dir STORE push --force REMOTE ${ref}`,
    { data: { ref, commit } },
  );
}

async function laterCommit(objects: Objects, commit: Oid, ref: RefName): Promise<MeshError> {
  const newer = await newerFormat(objects, commit);
  if (newer !== null) return newer;
  const root = await foundingUnder(objects, commit, ref);
  const todo =
    root === null
      ? `A member puts the right one back from its own store: git --git-dir STORE push --force REMOTE ${ref}`
      : `The founding under it is ${root}: a member whose store has that one too (git --git-dir STORE rev-parse ${ref}) ` +
        `puts it back: git --git-dir STORE push --force REMOTE ${root}:${ref}`;
  return new MeshError(
    'conflict',
    `The charter at ${ref} is not believed: commit ${commit} was put on top of the founding, and a charter never ` +
      `changes. ${todo}`,
    { data: { ref, commit, root } },
  );
}

/** A later format may change what a charter is: what this version does not know it does not judge, and does not join. */
async function newerFormat(objects: Objects, commit: Oid): Promise<MeshError | null> {
  try {
    await readCharter(objects, commit);
    return null;
  } catch (error) {
    if (error instanceof MeshError) return error.errorName === 'format_too_new' ? error : null;
    throw error;
  }
}

/** The founding that a commit goes on from; null where there is none to be believed, or it is out of reach. */
async function foundingUnder(objects: Objects, commit: Oid, ref: RefName): Promise<Oid | null> {
  try {
    let at = commit;
    for (let steps = 0; steps < maxLaterCommits; steps++) {
      if (!(await objects.has(at))) return null;
      const [parent] = (await objects.commit(at)).parents;
      if (parent === undefined) {
        await readFounding(objects, at, ref);
        return at;
      }
      at = parent;
    }
    return null;
  } catch (error) {
    // Whoever wrote it may have written anything.
    if (error instanceof MeshError) return null;
    throw error;
  }
}
