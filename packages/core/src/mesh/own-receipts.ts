import type { Handle, Oid } from '../domain/ids.js';
import { receiptPath } from '../domain/layout.js';
import { decodeReceipt } from '../domain/receipt-record.js';
import type { ReceiptRecord } from '../domain/records.js';
import { lookupPath } from '../domain/tree-edit.js';
import { MeshError } from '../errors.js';
import type { Store } from '../store/store.js';
import { maxRecordBytes } from './branches.js';
import type { Branch } from './branches.js';

/** The receipt of a sender's branch that stands on the own one; null where there is none that can be read. */
export async function receiptFor({ objects }: Store, own: Branch, sender: Handle): Promise<ReceiptRecord | null> {
  const readTree = (oid: Oid): ReturnType<typeof objects.tree> => objects.tree(oid);
  const entry = await lookupPath({ root: own.tree, readTree, path: receiptPath(sender) });
  if (entry?.mode !== '100644') return null;
  try {
    return decodeReceipt(await objects.blob(entry.oid, maxRecordBytes));
  } catch (error) {
    // Our own file: doctor names it, and the next receipt replaces it.
    if (error instanceof MeshError) return null;
    throw error;
  }
}
