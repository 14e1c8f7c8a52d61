import { parseCommitMessage } from '../domain/commit-message.js';
import type { CommitObject } from '../domain/git-object.js';
import type { Oid } from '../domain/ids.js';
import { MeshError } from '../errors.js';
import { SigningKeys, keysOf } from '../domain/key-chain.js';
import { verifySshSignature } from '../store/ssh-signature.js';
import type { Store } from '../store/store.js';
import { machineAt } from './machine-at.js';

interface Found {
  oid: Oid;
  seq: number;
  at: number;
}

/**
 * The newest commit of this machine among all objects of the store, for a store whose own ref was lost: objects are
 * durable before the ref moves, so that nothing that was accepted is newer. Of two with one number (one of them was made
 * by a process that died before it moved the ref) the one that the journal names, else the later one. Null where none is here.
 */
export async function newestOwnCommit(store: Store): Promise<Oid | null> {
  const found: Found[] = [];
  for await (const oid of store.objects.ids()) {
    const commit = await commitOrNull(store, oid);
    if (commit?.committer.name !== store.config.handle) continue;
    const seq = parseCommitMessage(commit.message)?.seq;
    // The charter is the founder's, too, and no machine's.
    if (seq !== undefined) found.push({ oid, seq, at: commit.committer.at });
  }
  const journaled = new Set(await journaledTips(store));
  found.sort((a, b) => b.seq - a.seq || Number(journaled.has(b.oid)) - Number(journaled.has(a.oid)) || b.at - a.at);
  for (const { oid } of found) if (await isOwnAndWhole(store, oid)) return oid;
  return null;
}

async function journaledTips(store: Store): Promise<Oid[]> {
  try {
    const journal = await store.journal.view();
    return [...journal.tips(store.config.handle), ...journal.pushed].map(({ commit }) => commit);
  } catch (error) {
    // A journal that cannot be read is told by whoever needs it.
    if (error instanceof MeshError) return [];
    throw error;
  }
}

async function commitOrNull({ objects }: Store, oid: Oid): Promise<CommitObject | null> {
  try {
    const object = await objects.read(oid);
    return object.type === 'commit' ? await objects.commit(oid) : null;
  } catch (error) {
    if (error instanceof MeshError) return null;
    throw error;
  }
}

async function isOwnAndWhole({ config, objects, key }: Store, oid: Oid): Promise<boolean> {
  try {
    const { gpgsig, message, signedBytes, tree } = await objects.commit(oid);
    const machine = await machineAt(objects, tree);
    // What it states must be a key to go on with: a rotation's commit may never have become the branch's.
    if (gpgsig === null || machine?.handle !== config.handle || !(await key.holds(machine.key))) return false;
    const publicKey = new SigningKeys(keysOf(machine), machine.key).older(parseCommitMessage(message)?.event);
    return publicKey !== undefined && verifySshSignature({ armoured: gpgsig, data: signedBytes, publicKey });
  } catch (error) {
    if (error instanceof MeshError) return false;
    throw error;
  }
}
