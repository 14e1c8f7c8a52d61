import { MeshError, errnoOf } from '@git-mesh/core';
import type { RemoteState } from '@git-mesh/core';
import type { OpenOptions } from './contract.js';
import { openMesh } from './open.js';
import { RemoteStates } from './remote-states.js';
import { standingStore, unfinished } from './standing-store.js';
import { withHeartbeat } from './watched-transport.js';

export interface FirstRoundOptions extends OpenOptions {
  onProgress?: (line: string) => void;
}

/**
 * Ends init and join: notes what the remote has by now, and numbers what the mesh holds for this machine, freezes above
 * all. Gives what is known of the remote then; null where nothing is.
 *
 * @param made what exists already, for the message of a failure
 * @throws MeshError that says what was made and how to go on; an unreachable remote is none.
 */
export async function firstRound(
  options: FirstRoundOptions,
  made = `the store at ${options.dir} was made`,
): Promise<RemoteState | null> {
  options.onProgress?.('first sync');
  try {
    const mesh = await openMesh(options);
    try {
      const { error } = await withHeartbeat(options.onProgress, 'first sync', () => mesh.syncNow());
      // Recorded like a remote's failure, and yet this disk's: what had to be written down here was not.
      const isDisk = error?.name === 'disk_full' || error?.name === 'read_only';
      if (isDisk) throw new MeshError(error.name === 'disk_full' ? 'disk_full' : 'read_only', error.message);
    } finally {
      await mesh.close();
    }
    return await originState(options);
  } catch (error) {
    throw unfinished(diskError(error), made);
  }
}

/** What the last round noted of the remote that init and join store. */
export async function originState(options: OpenOptions): Promise<RemoteState | null> {
  const store = await standingStore(options);
  return store === null ? null : new RemoteStates(store.local).get('origin');
}

/** A full or read-only disk under what is written around the store, as the store's own writes tell it. */
export function diskError(error: unknown): MeshError {
  if (error instanceof MeshError) return error;
  const code = errnoOf(error);
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new MeshError('disk_full', 'no space is left on the disk: free some, then try again', { cause: error });
    case 'EROFS':
    case 'EACCES':
    case 'EPERM':
      return new MeshError('read_only', `a folder cannot be written (${code}): see its mount, owner and mode`, {
        cause: error,
      });
    default:
      throw error;
  }
}
