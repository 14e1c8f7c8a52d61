import { toIso } from '../domain/ids.js';
import type { Handle, IsoTime, Oid } from '../domain/ids.js';
import { MeshError } from '../errors.js';
import type { Objects } from '../store/ports.js';
import { seqOf } from './ancestry.js';
import { machineAt } from './machine-at.js';

/** Where a machine's history ends in this store, although it goes on elsewhere. */
export interface Edge {
  machine: Handle;
  /** The oldest commit of it that is here, and when it was made. */
  commit: Oid;
  at: IsoTime;
  /** How many commits come before it. */
  older: number;
}

/** Those of `commits`, which are edges, that belong to machines' branches: by their own machine.yaml. */
export async function edgesOf(objects: Objects, commits: readonly Oid[]): Promise<Edge[]> {
  const found: Edge[] = [];
  for (const commit of commits) {
    const edge = await describe(objects, commit);
    if (edge !== null) found.push(edge);
  }
  return found.sort((a, b) => (a.machine < b.machine ? -1 : 1));
}

async function describe(objects: Objects, oid: Oid): Promise<Edge | null> {
  try {
    const commit = await objects.commit(oid);
    const machine = await machineAt(objects, commit.tree);
    const seq = seqOf(commit);
    if (machine === null || seq === null) return null;
    return { machine: machine.handle, commit: oid, at: toIso(commit.committer.at), older: seq - 1 };
  } catch (error) {
    // Not a machine's, or damaged: doctor names what is.
    if (error instanceof MeshError) return null;
    throw error;
  }
}
