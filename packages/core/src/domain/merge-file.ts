import { decodeAck, encodeAck } from './ack-record.js';
import { agentKey } from './ids.js';
import { parsePath } from './mesh-path.js';
import { decodePresence } from './presence-record.js';
import { decodeReceipt } from './receipt-record.js';
import type { AckRecord, EventName } from './records.js';
import { MeshError } from '../errors.js';

/** A file as a change left it, and as it is where the change is made again; null where there is none. */
export interface FileVersions {
  after: Uint8Array | null;
  there: Uint8Array | null;
}

/**
 * A change to one file of a machine's branch, made again where the same machine has changed that file too (it was put
 * back from a backup and wrote before it knew): never as text, always by what the file says.
 *
 * - acknowledgements of both count;
 * - of two presence records the one with the later activity stands, and one that came later is not pruned;
 * - of two receipts the one that reaches further stands;
 * - of all else the change, which is the machine's last word.
 */
export function mergeFile(
  { path, event }: { path: string; event: EventName },
  { after, there }: FileVersions,
): Uint8Array | null {
  const kind = parsePath(path)?.kind;
  if (there === null) return kind === 'presence' && event === 'renew' ? null : after;
  if (after === null) return kind === 'presence' && event !== 'checkout' ? there : null;
  try {
    switch (kind) {
      case 'ack':
        return encodeAck(bothAcks(decodeAck(there), decodeAck(after)));
      case 'presence':
        return decodePresence(there).last_activity_at > decodePresence(after).last_activity_at ? there : after;
      case 'receipt':
        return decodeReceipt(there).delivered_through.seq > decodeReceipt(after).delivered_through.seq ? there : after;
      default:
        return after;
    }
  } catch (error) {
    // One of them cannot be read: then the change replaces it.
    if (error instanceof MeshError) return after;
    throw error;
  }
}

function bothAcks(there: AckRecord, after: AckRecord): AckRecord {
  const known = new Set(there.acks.map(({ agent }) => agentKey(agent)));
  return { ...there, acks: [...there.acks, ...after.acks.filter(({ agent }) => !known.has(agentKey(agent)))] };
}
