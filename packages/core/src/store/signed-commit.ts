import { encodeCommit } from '../domain/git-object.js';
import type { CommitParts } from '../domain/git-object.js';
import type { Signer } from './ports.js';

/** A commit object with the machine's signature over all the rest of it. */
export function signedCommit(signer: Signer, parts: Omit<CommitParts, 'gpgsig'>): Uint8Array {
  return encodeCommit({ ...parts, gpgsig: signer.sign(encodeCommit({ ...parts, gpgsig: null })) });
}
