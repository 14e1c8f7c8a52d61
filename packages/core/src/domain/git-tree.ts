import { MeshError } from '../errors.js';
import type { TreeEntry } from './git-object.js';
import type { Oid } from './ids.js';
import { visibleText } from './visible-text.js';

export const folderMode = '40000';
export const fileMode = '100644';
/** Well over 100,000 entries, which take most of a second to read; a larger tree is refused unread. */
export const maxTreeBytes: number = 8 * 1024 * 1024;

const utf8 = new TextEncoder();
const nothing = new Uint8Array(0);

/**
 * A tree object's content. The entries may come in any order; names must be unique. Half of what a commit in a full folder
 * costs is made here, so no bytes are made for an entry by itself.
 */
export function encodeTree(entries: readonly TreeEntry[]): Uint8Array {
  const sorted = isSorted(entries) ? entries : [...entries].sort(gitOrder);
  // A UTF-16 unit takes three bytes at most.
  const most = sorted.reduce((sum, { mode, name }) => sum + mode.length + 3 * name.length + 22, 0);
  const bytes = new Uint8Array(most);
  let at = 0;
  for (const { mode, name, oid } of sorted) {
    at += utf8.encodeInto(`${mode} ${name}\0`, bytes.subarray(at)).written;
    at = putHex(bytes, at, oid);
  }
  return at === 0 ? nothing : bytes.slice(0, at);
}

function isSorted(entries: readonly TreeEntry[]): boolean {
  return entries.every((entry, i) => i === 0 || gitOrder(entries[i - 1] ?? entry, entry) < 0);
}

/**
 * A tree object's entries, in git's order.
 * @throws MeshError `protocol_error` for a tree that is cut, out of order, names something twice, or has a name that is
 * not UTF-8, empty, `.`, `..` or holds a slash. Other odd names are given: whoever walks the tree takes only known paths.
 */
export function decodeTree(bytes: Uint8Array): TreeEntry[] {
  const entries: TreeEntry[] = [];
  const names = new Set<string>();
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let at = 0;
  while (at < bytes.length) {
    const end = bytes.indexOf(0, at);
    if (end === -1 || end + 21 > bytes.length) throw bad('it is cut off');
    let header: string;
    try {
      header = decoder.decode(bytes.subarray(at, end));
    } catch (error) {
      // TypeError is how TextDecoder says that the bytes are no UTF-8.
      if (error instanceof TypeError) throw bad('a name is not UTF-8');
      throw error;
    }
    const space = header.indexOf(' ');
    const mode = header.slice(0, space);
    const name = header.slice(space + 1);
    if (!/^[1-7][0-7]{4,5}$/.test(mode)) throw bad(`an entry has the mode ${shown(mode)}`);
    if (name === '' || name === '.' || name === '..' || name.includes('/'))
      throw bad(`an entry is named ${shown(name)}`);
    if (names.has(name)) throw bad(`${shown(name)} is there twice`);
    names.add(name);
    const entry: TreeEntry = { mode, name, oid: bytesToHex(bytes.subarray(end + 1, end + 21)) };
    const last = entries.at(-1);
    if (last !== undefined && gitOrder(last, entry) >= 0) throw bad(`${shown(name)} is out of order`);
    entries.push(entry);
    at = end + 21;
  }
  return entries;
}

export function isFolder(entry: Pick<TreeEntry, 'mode'>): boolean {
  return entry.mode === folderMode;
}

/** By the bytes of the names, a folder's as if it ended in a slash. */
export function gitOrder(a: Pick<TreeEntry, 'mode' | 'name'>, b: Pick<TreeEntry, 'mode' | 'name'>): number {
  // Only where one name begins with the other does it matter what comes after it.
  if (!a.name.startsWith(b.name) && !b.name.startsWith(a.name)) return compareUtf8(a.name, b.name);
  const left = isFolder(a) ? `${a.name}/` : a.name;
  const right = isFolder(b) ? `${b.name}/` : b.name;
  return compareUtf8(left, right);
}

/** The order of the texts' UTF-8 bytes, which is that of their code points (UTF-16 units differ above U+D7FF). */
export function compareUtf8(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let i = 0; i < length; i++) {
    const a = left.charCodeAt(i);
    const b = right.charCodeAt(i);
    if (a === b) continue;
    const aHigh = a >= 0xd800 && a <= 0xdfff;
    const bHigh = b >= 0xd800 && b <= 0xdfff;
    return aHigh === bHigh ? a - b : aHigh ? 1 : -1;
  }
  return left.length - right.length;
}

/** Where the bytes end in `into`. */
function putHex(into: Uint8Array, at: number, oid: Oid): number {
  for (let i = 0; i < oid.length; i += 2) {
    into[at + i / 2] = 16 * hexDigit(oid.charCodeAt(i)) + hexDigit(oid.charCodeAt(i + 1));
  }
  return at + oid.length / 2;
}

/** `0` to `9` and `a` to `f`, as an object id has them. */
const hexDigit = (code: number): number => (code < 0x3a ? code - 0x30 : code - 0x57);

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function bytesToHex(bytes: Uint8Array): Oid {
  let text = '';
  for (const byte of bytes) text += hex[byte] ?? '';
  // Twenty bytes are forty hex digits.
  return text as Oid;
}

const shown = (text: string): string => JSON.stringify(visibleText(text, { maxLength: 60 }));

function bad(reason: string): MeshError {
  return new MeshError('protocol_error', `a tree object is not valid: ${reason}`);
}
