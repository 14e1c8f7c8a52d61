import { MeshError } from '../errors.js';
import { isDeviceName } from './device-name.js';
import { visibleText } from './visible-text.js';

/** Branded identifiers, each made only by the function that checks it (`parse…` throws, `is…` answers). */

declare const brand: unique symbol;
type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** A machine's name in a mesh: `[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?`, no Windows device name. */
export type Handle = Brand<string, 'Handle'>;
/** An agent's name as it was spelled; compared through {@link agentKey}. */
export type AgentId = Brand<string, 'AgentId'>;
/** The lower-case form of an agent's name: what paths and comparisons use. */
export type AgentKey = Brand<string, 'AgentKey'>;
/** 26 characters of Crockford base 32 (github.com/ulid/spec). */
export type Ulid = Brand<string, 'Ulid'>;
/** A git object id: 40 lower-case hex digits (SHA-1 repositories only). */
export type Oid = Brand<string, 'Oid'>;
/** A whole path of a ref, as in `refs/heads/mesh/studio`. */
export type RefName = Brand<string, 'RefName'>;
/** Milliseconds since 1970-01-01T00:00:00Z. */
export type EpochMillis = number;
/** ISO 8601 UTC with milliseconds, as in `2026-12-02T05:00:00.000Z`. */
export type IsoTime = string;
/** `*` or a machine's handle: whom a message is for. */
export type Addressee = Handle | '*';

const handlePattern = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/;
const agentPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const ulidPattern = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
/** The time part of the last millisecond of the year 9999: later ones have no ISO 8601 form of four-digit years. */
const lastUlidTime = '76EZ91ZPZZ';
const commonIsoPattern = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;
const isoPattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

const handleRule =
  'a handle is 1 to 40 of a-z, 0-9 and "-", begins and ends with a letter or digit, and is no Windows device name (con, nul, com1…)';
const agentRule =
  'an agent_id is 1 to 64 of A-Z, a-z, 0-9, ".", "_" and "-", begins with a letter or digit, does not end in ".", and is no Windows device name (con, nul, com1…), with or without an extension';

export function isHandle(text: string): text is Handle {
  return handlePattern.test(text) && !isDeviceName(text);
}

/** What a name was given as, for whoever tells a person of it. */
interface Given {
  argument?: string;
}

/** @throws MeshError `invalid_argument` naming the rule. */
export function parseHandle(text: string, given: Given = {}): Handle {
  if (isHandle(text)) return text;
  throw new MeshError(
    'invalid_argument',
    `"${visibleText(text, { maxLength: 80 })}" is no machine handle: ${handleRule}`,
    { data: { ...given } },
  );
}

/** The short host name as a valid handle, with room left for a suffix like `-2`; `machine` where nothing of it is left. */
export function handleFromHostname(hostname: string): string {
  const short = hostname.split('.', 1)[0] ?? '';
  const handle = short
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, 36)
    .replace(/-+$/, '');
  return isHandle(handle) ? handle : 'machine';
}

export function isAgentId(text: string): text is AgentId {
  return agentPattern.test(text) && !text.endsWith('.') && !isDeviceName(text);
}

/** @throws MeshError `invalid_argument` naming the rule. */
export function parseAgentId(text: string, given: Given = {}): AgentId {
  if (isAgentId(text)) return text;
  throw new MeshError('invalid_argument', `"${visibleText(text, { maxLength: 80 })}" is no agent_id: ${agentRule}`, {
    data: { ...given },
  });
}

/** As a plain string: the brand does not survive a change of case. */
const lower = (text: string): string => text.toLowerCase();

/** What two spellings of one agent have in common. */
export function agentKey(id: AgentId): AgentKey {
  // An AgentId is ASCII, so its lower-case form keeps every rule that made it one.
  return lower(id) as AgentKey;
}

/** True where that name is the agent's in any spelling; false for no name at all. */
export function isAgent(id: AgentId | null | undefined, key: AgentKey | null): boolean {
  return id !== null && id !== undefined && agentKey(id) === key;
}

/** True for an agent's name in its lower-case form. */
export function isAgentKey(text: string): text is AgentKey {
  return isAgentId(text) && text === lower(text);
}

/** Upper-case Crockford base 32, of a time up to the end of the year 9999. */
export function isUlid(text: string): text is Ulid {
  return ulidPattern.test(text) && text.slice(0, 10) <= lastUlidTime;
}

export function isOid(text: string): text is Oid {
  return /^[0-9a-f]{40}$/.test(text);
}

/** True for exactly the form with milliseconds and `Z`, of a date that exists. */
export function isIsoTime(text: string): text is IsoTime {
  // Nearly all are of a day that every month has, which needs no calendar.
  if (commonIsoPattern.test(text)) return true;
  if (!isoPattern.test(text)) return false;
  const at = Date.parse(text);
  return !Number.isNaN(at) && new Date(at).toISOString() === text;
}

/** @throws RangeError outside the years 0 to 9999: times come from a clock or from {@link fromIso}. */
export function toIso(ms: EpochMillis): IsoTime {
  const iso = new Date(ms).toISOString();
  if (iso.length !== 24) throw new RangeError(`no time of a four-digit year: ${ms}`);
  return iso;
}

/** @throws MeshError `invalid_argument` for anything but the form of {@link isIsoTime}. */
export function fromIso(iso: IsoTime): EpochMillis {
  // The form is known: reading its digits takes a quarter of Date.parse. Date.UTC takes a year below 100 for another.
  if (isIsoTime(iso)) return iso < '0100' ? Date.parse(iso) : utcOf(iso);
  throw new MeshError(
    'invalid_argument',
    `"${visibleText(iso, { maxLength: 40 })}" is no time: expected ISO 8601 UTC with milliseconds, as in 2026-12-02T05:00:00.000Z`,
  );
}

/** Of the form of {@link isIsoTime}. */
function utcOf(iso: IsoTime): EpochMillis {
  const two = (at: number): number => 10 * iso.charCodeAt(at) + iso.charCodeAt(at + 1) - 11 * zero;
  const ms = 100 * (iso.charCodeAt(20) - zero) + two(21);
  return Date.UTC(100 * two(0) + two(2), two(5) - 1, two(8), two(11), two(14), two(17), ms);
}

const zero = '0'.charCodeAt(0);
