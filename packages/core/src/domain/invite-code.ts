import { MeshError } from '../errors.js';
import { fromIso, isHandle, isIsoTime, isOid, isUlid, toIso } from './ids.js';
import type { EpochMillis, Handle, IsoTime, Oid, Ulid } from './ids.js';
import { isJsonObject } from './json.js';
import type { Json } from './records.js';
import { hasUnseen, isWellFormed } from './visible-text.js';

/**
 * An invitation as it is handed over: `mesh1.` and base64url of a JSON object with `v` and these fields. Whoever has it
 * can join once, so that neither it nor its `secret` may ever be in a message.
 */
export interface InviteCode {
  /** Of the remote, without credentials. */
  url: string;
  mesh: Ulid;
  /** The commit of the charter that the inviter goes by. */
  charter: Oid;
  /** The mesh's, for people. */
  name: string;
  /** The inviter, and the fingerprint of its key (`SHA256:…`). */
  by: Handle;
  key: string;
  id: string;
  /** 32 bytes in base64url. */
  secret: string;
  expires: IsoTime;
}

const version = 1;
const maxCodeLength = 8_192;
/** Of a letter with a code in it: more than any that was broken into lines has. */
const maxWords = 400;

const fields: { readonly [K in keyof InviteCode]: (value: Json) => boolean } = {
  url: textOf((url) => url.trim() !== '' && url.length <= 2_000 && !url.startsWith('-') && !hasUnseen(url)),
  mesh: textOf(isUlid),
  charter: textOf(isOid),
  name: textOf((name) => name.length <= 200 && isWellFormed(name)),
  by: textOf(isHandle),
  key: textOf((key) => /^SHA256:[A-Za-z0-9+/]{43}$/.test(key)),
  id: textOf((id) => /^[A-Za-z0-9_-]{16,43}$/.test(id)),
  secret: textOf(isInviteSecret),
  expires: textOf(isIsoTime),
};

/** 32 bytes in base64url: the last character carries four bits. */
export function isInviteSecret(text: string): boolean {
  return /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/.test(text);
}

export function encodeInviteCode(code: InviteCode): string {
  const { url, mesh, charter, name, by, key, id, secret, expires } = code;
  return `mesh${version}.${toBase64Url(JSON.stringify({ v: version, url, mesh, charter, name, by, key, id, secret, expires }))}`;
}

/**
 * The invitation in what was pasted. White space within it is passed over (a letter or a chat may break it into lines,
 * and mark each with `>`), and so is what stands before it, around it, and on the lines below it: the whole line or letter that has it will do.
 * @throws MeshError `format_too_new`; `invalid_argument` that says what is wrong. No message repeats any of the code.
 */
export function decodeInviteCode(text: string): InviteCode {
  const unquoted = text.replace(/\n[ \t]*(?:>[ \t]*)+/g, '\n');
  const [, given, pasted] = /(?<![\w./\\-])mesh(\d{1,9})\.([^]*)$/.exec(unquoted) ?? [];
  if (given === undefined || pasted === undefined) throw unreadable('it does not begin with mesh1. and one long word');
  if (Number(given) > version) {
    throw new MeshError(
      'format_too_new',
      `The invitation is one of version ${given}, and this git-mesh reads version ${version}: update git-mesh, then use it again.`,
    );
  }
  if (Number(given) !== version) throw unreadable(`its version is ${given}, expected ${version}`);
  const { value, following } = pastedBody(pasted);
  if (/^[^\S\r\n]*\S/.test(following)) {
    throw new MeshError(
      'invalid_argument',
      'Something follows the invitation, and would be passed over. Give the code alone, one word from mesh1. to its end, and what follows it as arguments of their own.',
    );
  }
  for (const name of Object.keys(value)) {
    // Its name is not shown: it may be a piece of the secret that was moved.
    if (name !== 'v' && !Object.hasOwn(fields, name)) throw unreadable('it has a field that none has');
  }
  if (value['v'] !== version) throw unreadable(`its field v is not ${version}`);
  for (const [name, isRight] of Object.entries(fields)) {
    const field = Object.hasOwn(value, name) ? value[name] : undefined;
    if (field === undefined) throw unreadable(`its field ${name} is missing`);
    if (!isRight(field)) throw unreadable(`its field ${name} is not what it should be`);
  }
  const { v: _version, ...rest } = value;
  // Each field was looked at just now.
  return rest as unknown as InviteCode;
}

/** @throws MeshError `forbidden` where it has ended by this machine's clock. */
export function requireUnexpired({ by, expires }: Pick<InviteCode, 'by' | 'expires'>, now: EpochMillis): void {
  if (now < fromIso(expires)) return;
  throw new MeshError(
    'forbidden',
    `The invitation of ${by} ended at ${expires}, and it is ${toIso(now)} by this machine's clock. Ask for a new one ` +
      `(git mesh invite, on ${by}), or set the clock right if it is not that late.`,
    { data: { by, expires_at: expires } },
  );
}

/**
 * What a joiner proves with the secret: that whoever has it meant this very key under this very handle. A proof that is
 * copied to another handle, key or mesh proves nothing.
 */
export function inviteProofText({ mesh, handle, key }: { mesh: Ulid; handle: Handle; key: string }): string {
  return `git-mesh invite\n${mesh}\n${handle}\n${key}\n`;
}

function textOf(isRight: (text: string) => boolean): (value: Json) => boolean {
  return (value) => typeof value === 'string' && isRight(value);
}

/** The object that the first words of a text are, with what follows them. */
function pastedBody(text: string): { value: Record<string, Json>; following: string } {
  const words = /[A-Za-z0-9_-]+(?=[\s"'`>).,;:]|$)\s*/y;
  let body = '';
  for (let count = 0; count < maxWords; count++) {
    const from = words.lastIndex;
    const word = words.exec(text)?.[0].trimEnd();
    if (word === undefined) break;
    body += word;
    if (body.length > maxCodeLength) break;
    const value = objectIn(body);
    // No object is the beginning of another one.
    if (value !== null) return { value, following: text.slice(from + word.length).replace(/^["'`>).,;:]+/, '') };
  }
  const whole = text.replace(/\s+/g, '');
  if (whole.length > maxCodeLength) throw unreadable(`it is longer than ${maxCodeLength} characters`);
  return { value: parseBody(whole), following: '' };
}

function objectIn(body: string): Record<string, Json> | null {
  try {
    return parseBody(body);
  } catch (error) {
    if (error instanceof MeshError) return null;
    throw error;
  }
}

function parseBody(body: string): Record<string, Json> {
  const bytes = fromBase64Url(body);
  if (bytes === null) throw unreadable('what follows mesh1. is no base64url');
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    // No cause goes along: a SyntaxError quotes what it could not read.
    if (error instanceof SyntaxError || error instanceof TypeError) throw unreadable('it holds no JSON');
    throw error;
  }
  if (!isJsonObject(value)) throw unreadable('it holds no JSON object');
  return value;
}

function unreadable(why: string): MeshError {
  return new MeshError(
    'invalid_argument',
    `This is no invitation that can be read: ${why}. Give the code as git mesh invite printed it, one word from mesh1. to its end, or ask for a new one.`,
  );
}

function toBase64Url(text: string): string {
  const binary = Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** Null for anything but the one way in which bytes are written. */
function fromBase64Url(text: string): Uint8Array | null {
  if (!/^[A-Za-z0-9_-]+$/.test(text) || text.length % 4 === 1) return null;
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  const plain = btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  return plain === text ? Uint8Array.from(binary, (char) => char.charCodeAt(0)) : null;
}
