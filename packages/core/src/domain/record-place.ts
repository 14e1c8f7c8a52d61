import type { Handle } from './ids.js';
import { agentKey } from './ids.js';
import type { MeshPath } from './mesh-path.js';
import { parsePath } from './mesh-path.js';
import type {
  AckRecord,
  MachineRecord,
  MessageRecord,
  PresenceRecord,
  ReceiptRecord,
  RosterRecord,
} from './records.js';

/**
 * A file is believed only where it may stand: each of these gives null, or the reason why the record is not believed
 * at `path` of the branch of `branch`.
 */
interface Place {
  path: string;
  branch: Handle;
}

/** The path equals the content's id and addressee, and the branch is the sender's. */
export function checkMessage(record: MessageRecord, { path, branch }: Place): string | null {
  const place = at(path, 'message');
  if (place === null) return misplaced('message');
  if (place.id !== record.id) return `the file is named ${place.id}, but its id is ${record.id}`;
  if (place.to !== record.to.machine)
    return `the file lies under ${place.to}, but is addressed to ${record.to.machine}`;
  if (record.from.machine !== branch) return `from.machine is ${record.from.machine}, but the branch is ${branch}'s`;
  return null;
}

export function checkAck(record: AckRecord, { path }: Pick<Place, 'path'>): string | null {
  const place = at(path, 'ack');
  if (place === null) return misplaced('ack');
  return place.id === record.id ? null : `the file is named ${place.id}, but its id is ${record.id}`;
}

export function checkPresence(record: PresenceRecord, { path }: Pick<Place, 'path'>): string | null {
  const place = at(path, 'presence');
  if (place === null) return misplaced('presence record');
  return place.agent === agentKey(record.agent) ? null : `the file is named ${place.agent}, but is ${record.agent}'s`;
}

/** A receipt names its sender by its path alone; nobody gives receipts to itself. */
export function checkReceipt(_record: ReceiptRecord, { path, branch }: Place): string | null {
  const place = at(path, 'receipt');
  if (place === null) return misplaced('receipt');
  return place.sender === branch ? `the branch of ${branch} has a receipt for itself` : null;
}

export function checkRoster(record: RosterRecord, { path }: Pick<Place, 'path'>): string | null {
  const place = at(path, 'roster');
  if (place === null) return misplaced('roster entry');
  return place.handle === record.handle ? null : `the file is named ${place.handle}, but is about ${record.handle}`;
}

export function checkMachine(record: MachineRecord, { path, branch }: Place): string | null {
  if (at(path, 'machine') === null) return misplaced('machine record');
  return record.handle === branch ? null : `the handle is ${record.handle}, but the branch is ${branch}'s`;
}

function at<K extends MeshPath['kind']>(path: string, kind: K): Extract<MeshPath, { kind: K }> | null {
  const place = parsePath(path);
  // The comparison is what makes the narrowing true; TypeScript does not follow it through K.
  return place?.kind === kind ? (place as Extract<MeshPath, { kind: K }>) : null;
}

const misplaced = (what: string): string => `the file is not where a ${what} belongs`;
