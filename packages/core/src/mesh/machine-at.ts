import { maxFileBytes } from '../domain/codec.js';
import type { Oid } from '../domain/ids.js';
import { machinePath } from '../domain/layout.js';
import { decodeMachine } from '../domain/machine.js';
import type { MachineRecord } from '../domain/records.js';
import { lookupPath } from '../domain/tree-edit.js';
import type { Objects } from '../store/ports.js';

/** The blob of `machine.yaml` in a commit's tree; null where there is none. @throws MeshError where the tree cannot be read. */
export async function machineBlob(objects: Objects, tree: Oid): Promise<Oid | null> {
  const entry = await lookupPath({ root: tree, readTree: (oid) => objects.tree(oid), path: machinePath });
  return entry?.mode === '100644' ? entry.oid : null;
}

/**
 * `machine.yaml` in a commit's tree; null where there is none.
 * @throws MeshError where it cannot be read: `invalid_argument` naming the key, `payload_too_large`, `store_damaged`.
 */
export async function machineAt(objects: Objects, tree: Oid): Promise<MachineRecord | null> {
  const blob = await machineBlob(objects, tree);
  return blob === null ? null : decodeMachine(await objects.blob(blob, maxFileBytes));
}
