import type { Addressee, AgentKey, Handle, Ulid } from './ids.js';
import { isAgentKey, isHandle, isIsoTime, isUlid } from './ids.js';

export const machinePath = 'machine.yaml';
/** The folder that stands for `*`: no handle begins with `_`. */
export const everyoneFolder = '_all';

export type MeshPath =
  | { kind: 'machine' }
  | { kind: 'presence'; agent: AgentKey }
  | { kind: 'message'; to: Addressee; id: Ulid }
  | { kind: 'ack'; sender: Handle; id: Ulid }
  | { kind: 'receipt'; sender: Handle }
  | { kind: 'roster'; handle: Handle };

/**
 * What a path of a machine's branch is for; null for a path that has no place in the layout. A message's date folders
 * must be a real date and time but need not be those of its ULID: they only keep trees small.
 */
export function parsePath(path: string): MeshPath | null {
  if (path === machinePath) return { kind: 'machine' };
  if (path.length > 200 || !path.endsWith('.yaml')) return null;
  const [folder, ...rest] = path.slice(0, -'.yaml'.length).split('/');
  const [first = '', second = ''] = rest;
  if (folder === 'messages') return parseMessagePath(rest);
  if (folder === 'acks' && rest.length === 2) {
    return isHandle(first) && isUlid(second) ? { kind: 'ack', sender: first, id: second } : null;
  }
  if (rest.length !== 1) return null;
  if (folder === 'presence') return isAgentKey(first) ? { kind: 'presence', agent: first } : null;
  if (folder === 'receipts') return isHandle(first) ? { kind: 'receipt', sender: first } : null;
  if (folder === 'roster') return isHandle(first) ? { kind: 'roster', handle: first } : null;
  return null;
}

function parseMessagePath(parts: readonly string[]): MeshPath | null {
  const [to = '', date = '', time = '', id = ''] = parts;
  if (parts.length !== 4 || !isUlid(id) || !isDate(date) || !isMinute(time)) return null;
  if (to === everyoneFolder) return { kind: 'message', to: '*', id };
  return isHandle(to) ? { kind: 'message', to, id } : null;
}

const isDate = (text: string) => isIsoTime(`${text}T00:00:00.000Z`);
const isMinute = (text: string) => /^(?:[01]\d|2[0-3])[0-5]\d$/.test(text);

/**
 * True for a folder that the layout may have (`''`, `messages`, `messages/studio/2026-12-02`…): what walks a foreign
 * tree descends into these alone, so that trees built to explode stay unread.
 */
export function isMeshFolder(path: string): boolean {
  const [folder, ...rest] = path.split('/');
  const [first = '', second = '', third = ''] = rest;
  switch (folder) {
    case '':
    case 'presence':
    case 'receipts':
    case 'roster':
      return rest.length === 0;
    case 'acks':
      return rest.length === 0 || (rest.length === 1 && isHandle(first));
    case 'messages':
      if (rest.length === 0) return true;
      if (first !== everyoneFolder && !isHandle(first)) return false;
      return rest.length === 1 || (isDate(second) && (rest.length === 2 || (rest.length === 3 && isMinute(third))));
    default:
      return false;
  }
}
