import type { Addressee, AgentKey, Handle, Ulid } from './ids.js';
import { toIso } from './ids.js';
import { everyoneFolder } from './mesh-path.js';
import { ulidTime } from './ulid.js';

/** Where things stand in the tree of a machine's branch, and what its branches are called. */

export const charterPath = 'mesh.yaml';
export const readmePath = 'README.md';

export function presencePath(agent: AgentKey): string {
  return `presence/${agent}.yaml`;
}

/** The folder of all messages to `to`; what is deeper depends on the message's ULID. */
export function messageFolder(to: Addressee): string {
  return `messages/${to === '*' ? everyoneFolder : to}`;
}

/** `messages/<to>/<YYYY-MM-DD>/<HHMM>/<ulid>.yaml`, date and time in UTC from the ULID itself. */
export function messagePath({ to, id }: { to: Addressee; id: Ulid }): string {
  const iso = toIso(ulidTime(id));
  return `${messageFolder(to)}/${iso.slice(0, 10)}/${iso.slice(11, 13)}${iso.slice(14, 16)}/${id}.yaml`;
}

export function ackPath(sender: Handle, id: Ulid): string {
  return `acks/${sender}/${id}.yaml`;
}

export function receiptPath(sender: Handle): string {
  return `receipts/${sender}.yaml`;
}

export function rosterPath(handle: Handle): string {
  return `roster/${handle}.yaml`;
}

export { isMeshFolder, machinePath, parsePath } from './mesh-path.js';
export type { MeshPath } from './mesh-path.js';
export { checkAck, checkMachine, checkMessage, checkPresence, checkReceipt, checkRoster } from './record-place.js';
export {
  branchRef,
  charterRef,
  defaultRefPrefix,
  handleOfRef,
  parseRefPrefix,
  quarantineRef,
  remoteRef,
  remoteRefPrefix,
} from './ref-names.js';
