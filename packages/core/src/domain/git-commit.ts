import { MeshError } from '../errors.js';
import { joinBytes } from './bytes.js';
import type { CommitObject, Signature } from './git-object.js';
import type { Oid } from './ids.js';
import { isOid } from './ids.js';
import { visibleText } from './visible-text.js';

/** What a commit is written from; `gpgsig` as in {@link CommitObject}. */
export interface CommitParts {
  tree: Oid;
  parents: readonly Oid[];
  author: Signature;
  committer: Signature;
  gpgsig: string | null;
  /** Ends in a line feed, as git writes it. */
  message: string;
}

const utf8 = new TextEncoder();
/** Headers of a real commit are far shorter; a longer one is not looked into. */
const maxHeaderBytes = 65_536;
const maxParents = 64;
/** Seconds; the end of the year 9999. */
const lastSecond = 253_402_300_799;

/**
 * A commit object's content, times as whole seconds (rounded down) in UTC. Encoded without `gpgsig` it is what a
 * signature signs.
 * @throws MeshError `invalid_argument` for a name or e-mail that a commit cannot hold.
 */
export function encodeCommit(parts: CommitParts): Uint8Array {
  const headers = [
    `tree ${parts.tree}`,
    ...parts.parents.map((parent) => `parent ${parent}`),
    `author ${personLine(parts.author)}`,
    `committer ${personLine(parts.committer)}`,
  ];
  if (parts.gpgsig !== null) headers.push(`gpgsig ${parts.gpgsig.trimEnd().split('\n').join('\n ')}`);
  return utf8.encode(`${headers.join('\n')}\n\n${parts.message}`);
}

function personLine({ name, email, at }: Signature): string {
  for (const text of [name, email]) {
    // eslint-disable-next-line no-control-regex -- a commit's header ends at the first of them
    if (text.trim() === '' || /[<>\u0000-\u001f\u007f]/.test(text)) {
      throw new MeshError(
        'invalid_argument',
        `"${visibleText(text, { maxLength: 80 })}" can be no name or e-mail of a commit: it is empty or has "<", ">" or a control character`,
      );
    }
  }
  return `${name} <${email}> ${Math.floor(at / 1000)} +0000`;
}

/**
 * A commit object's parts. Bytes of the names and the message that are no UTF-8 become U+FFFD; `signedBytes` are the
 * original ones. Headers we do not know are left alone.
 * @throws MeshError `protocol_error` for a commit without tree, author or committer, with one of them twice or out of
 * order, with several signatures, or with a date outside the years 1970 to 9999.
 */
export function decodeCommit(bytes: Uint8Array): CommitObject {
  const end = headerEnd(bytes);
  const lines = headerLines(bytes, end);
  let next = 0;
  const take = (key: string): string => {
    const line = lines[next];
    if (line?.key !== key) throw bad(`expected the header "${key}", got ${shown(line?.key ?? 'nothing')}`);
    next += 1;
    return line.value;
  };
  const tree = oid(take('tree'));
  const parents: Oid[] = [];
  while (lines[next]?.key === 'parent') parents.push(oid(take('parent')));
  if (parents.length > maxParents) throw bad(`it has ${parents.length} parents`);
  const author = person(take('author'));
  const committer = person(take('committer'));
  let signature: HeaderLine | null = null;
  for (const line of lines.slice(next)) {
    if (['tree', 'parent', 'author', 'committer'].includes(line.key))
      throw bad(`the header "${line.key}" is out of place`);
    if (!line.key.startsWith('gpgsig')) continue;
    // git strips every one of these before it verifies: with more than one, or another kind, we would sign other bytes.
    if (signature !== null || line.key !== 'gpgsig')
      throw bad('it has more than one signature, or one of an unknown kind');
    signature = line;
  }
  return {
    tree,
    parents,
    author,
    committer,
    gpgsig: signature?.value ?? null,
    message: new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(Math.min(end + 2, bytes.length))),
    signedBytes:
      signature === null ? bytes : joinBytes([bytes.subarray(0, signature.start), bytes.subarray(signature.end)]),
  };
}

interface HeaderLine {
  key: string;
  /** Continuation lines joined by line feeds, without the space that each begins with. */
  value: string;
  /** Where the header begins, and where the next one does. */
  start: number;
  end: number;
}

/** The index of the line feed that ends the last header. */
function headerEnd(bytes: Uint8Array): number {
  const limit = Math.min(bytes.length, maxHeaderBytes);
  for (let at = bytes.indexOf(10); at !== -1 && at < limit; at = bytes.indexOf(10, at + 1)) {
    if (at + 1 === bytes.length || bytes[at + 1] === 10) return at;
  }
  throw bad('its headers do not end');
}

function headerLines(bytes: Uint8Array, end: number): HeaderLine[] {
  const lines: HeaderLine[] = [];
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  for (let start = 0; start <= end;) {
    const stop = bytes.indexOf(10, start);
    const text = decoder.decode(bytes.subarray(start, stop));
    if (text.includes('\0')) throw bad('a header holds a NUL');
    const last = lines.at(-1);
    if (text.startsWith(' ')) {
      if (last === undefined) throw bad('it begins with a continuation line');
      last.value += `\n${text.slice(1)}`;
      last.end = stop + 1;
    } else {
      const space = text.indexOf(' ');
      if (space <= 0) throw bad(`the header line ${shown(text)} has no value`);
      lines.push({ key: text.slice(0, space), value: text.slice(space + 1), start, end: stop + 1 });
    }
    start = stop + 1;
  }
  return lines;
}

function oid(text: string): Oid {
  if (isOid(text)) return text;
  throw bad(`${shown(text)} is no object id`);
}

function person(text: string): Signature {
  const match = /^([^<>\n]*?) ?<([^<>\n]*)> (\d{1,15}) [-+]\d{4}$/.exec(text);
  const seconds = Number(match?.[3] ?? Number.NaN);
  if (match === null || !(seconds <= lastSecond)) throw bad(`${shown(text)} is no name, e-mail and date`);
  return { name: match[1] ?? '', email: match[2] ?? '', at: seconds * 1000 };
}

const shown = (text: string): string => JSON.stringify(visibleText(text, { maxLength: 60 }));

function bad(reason: string): MeshError {
  return new MeshError('protocol_error', `a commit object is not valid: ${reason}`);
}
