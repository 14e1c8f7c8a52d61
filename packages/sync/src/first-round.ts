import type { OpenOptions } from './contract.js';
import { openMesh } from './open.js';

/** Ends init and join: notes what the remote has by now, and numbers what the mesh holds for this machine, freezes above all. */
export async function firstRound(options: OpenOptions): Promise<void> {
  const mesh = await openMesh(options);
  try {
    await mesh.syncNow();
  } finally {
    await mesh.close();
  }
}
