import { dirname, join } from 'node:path';
import { agentKey, isAgentKey, isHandle } from '../domain/ids.js';
import type { AgentKey, EpochMillis, Handle } from '../domain/ids.js';
import { isAhead } from '../domain/presence.js';
import { MeshError } from '../errors.js';
import type { Logger } from '../logger.js';
import { makeDurableFolder, readIfThere, writeAtomic, writeDurable } from './durable-fs.js';
import type { Fs } from './fs.js';
import { isErrno } from './fs.js';
import { isHold, isInvitationFile, isMentioned, isPlace, isRemoteState, isSession } from './local-shapes.js';
import type { Hold, Invitation, LocalState, Mentioned, RemoteState, SessionState, StorePlace } from './ports.js';
import type { Check } from './shape.js';
import { isRecord, parseJson } from './shape.js';

const invitationsFile = 'invites.json';

/** {@link LocalState} as small files in the store's `mesh` folder. A damaged one counts as absent and is logged. */
export class FileLocalState implements LocalState {
  readonly #fs: Fs;
  readonly #folder: string;
  readonly #logger: Logger;

  constructor(fs: Fs, meshFolder: string, logger: Logger) {
    this.#fs = fs;
    this.#folder = meshFolder;
    this.#logger = logger;
  }

  async session(agent: AgentKey): Promise<SessionState | null> {
    return this.#readJson(`sessions/${agent}.json`, isSession);
  }

  async sessions(): Promise<SessionState[]> {
    const names = (await this.#fs.list(join(this.#folder, 'sessions'))).filter((name) => name.endsWith('.json')).sort();
    const sessions = await Promise.all(names.map((name) => this.#readJson(`sessions/${name}`, isSession)));
    return sessions.filter((session) => session !== null);
  }

  async damagedSessions(): Promise<AgentKey[]> {
    const damaged: AgentKey[] = [];
    for (const name of (await this.#fs.list(join(this.#folder, 'sessions'))).sort()) {
      const key = name.replace(/\.json$/, '');
      if (!name.endsWith('.json') || !isAgentKey(key)) continue;
      const bytes = await readIfThere(this.#fs, join(this.#folder, 'sessions', name));
      if (bytes !== null && !isSession(parseJson(bytes))) damaged.push(key);
    }
    return damaged;
  }

  async putSession(session: SessionState): Promise<void> {
    await this.#writeJson(`sessions/${agentKey(session.agent)}.json`, session, { durable: true });
  }

  async touch(agent: AgentKey, at: EpochMillis): Promise<void> {
    const before = await this.lastActivity(agent);
    if (before !== null && before >= at && !isAhead(before, at)) return;
    const path = join(this.#folder, 'activity', agent);
    await this.#fs.makeFolder(dirname(path));
    await writeAtomic(this.#fs, path, Buffer.from(`${Math.floor(at)}\n`));
  }

  async lastActivity(agent: AgentKey): Promise<EpochMillis | null> {
    const bytes = await readIfThere(this.#fs, join(this.#folder, 'activity', agent));
    if (bytes === null) return null;
    const text = Buffer.from(bytes).toString('latin1').trimEnd();
    if (/^\d{1,15}$/.test(text)) return Number(text);
    this.#report(`activity/${agent}`);
    return null;
  }

  async remote(name: string): Promise<RemoteState | null> {
    return this.#readJson(remotePath(name), isRemoteState);
  }

  async putRemote(name: string, state: RemoteState): Promise<void> {
    await this.#writeJson(remotePath(name), state, { durable: false });
  }

  async removeRemote(name: string): Promise<void> {
    await this.#remove(remotePath(name));
  }

  async invitations(): Promise<Invitation[]> {
    return (await this.#readJson(invitationsFile, isInvitationFile))?.invitations ?? [];
  }

  async putInvitations(invitations: readonly Invitation[]): Promise<void> {
    if (invitations.length === 0) await this.#remove(invitationsFile);
    else await this.#writeJson(invitationsFile, { invitations }, { durable: true, mode: 0o600 });
  }

  async hold(): Promise<Hold | null> {
    return this.#readJson('hold.json', isHold);
  }

  async putHold(hold: Hold | null): Promise<void> {
    if (hold === null) await this.#remove('hold.json');
    else await this.#writeJson('hold.json', hold, { durable: true });
  }

  async waitingUntil(): Promise<EpochMillis | null> {
    const bytes = await readIfThere(this.#fs, join(this.#folder, 'waiting'));
    const text = bytes === null ? '' : Buffer.from(bytes).toString('latin1').trimEnd();
    return /^\d{1,15}$/.test(text) ? Number(text) : null;
  }

  async putWaitingUntil(until: EpochMillis): Promise<void> {
    await writeAtomic(this.#fs, join(this.#folder, 'waiting'), Buffer.from(`${Math.floor(until)}\n`));
  }

  async mentioned(): Promise<Mentioned[]> {
    return (await this.#readJson('mentioned.json', isMentioned)) ?? [];
  }

  async putMentioned(readers: readonly Mentioned[]): Promise<void> {
    await this.#writeJson('mentioned.json', readers, { durable: false });
  }

  async place(): Promise<StorePlace | null> {
    return this.#readJson('place.json', isPlace);
  }

  async putPlace(place: StorePlace): Promise<void> {
    await this.#writeJson('place.json', place, { durable: false });
  }

  async pins(): Promise<ReadonlyMap<Handle, string>> {
    const pins = new Map<Handle, string>();
    const stored = await this.#readJson('pins.json', isRecord);
    for (const [handle, key] of Object.entries(stored ?? {})) {
      if (isHandle(handle) && typeof key === 'string') pins.set(handle, key);
      else this.#report('pins.json');
    }
    return pins;
  }

  async pin(handle: Handle, key: string): Promise<void> {
    await this.pinAll([[handle, key]]);
  }

  async pinAll(added: Iterable<readonly [Handle, string]>): Promise<void> {
    const pins = new Map(await this.pins());
    let changed = false;
    for (const [handle, key] of added) {
      const before = pins.get(handle);
      if (before === key) continue;
      if (before !== undefined) {
        throw new MeshError('conflict', `another key is pinned for ${handle}: expected ${before}, got ${key}`, {
          data: { machine: handle },
        });
      }
      pins.set(handle, key);
      changed = true;
    }
    if (changed) await this.#putPins(pins);
  }

  async followKeys(chains: Iterable<readonly [Handle, readonly string[]]>): Promise<void> {
    const pins = new Map(await this.pins());
    let changed = false;
    for (const [handle, chain] of chains) {
      const [pinned, last] = [pins.get(handle), chain.at(-1)];
      if (pinned === undefined || last === undefined || pinned === last || !chain.includes(pinned)) continue;
      pins.set(handle, last);
      changed = true;
    }
    if (changed) await this.#putPins(pins);
  }

  async #putPins(pins: ReadonlyMap<Handle, string>): Promise<void> {
    const next = Object.fromEntries([...pins].sort(([a], [b]) => (a < b ? -1 : 1)));
    await this.#writeJson('pins.json', next, { durable: true });
  }

  async #readJson<T>(path: string, check: Check<T>): Promise<T | null> {
    const bytes = await readIfThere(this.#fs, join(this.#folder, path));
    if (bytes === null) return null;
    const value = parseJson(bytes);
    if (check(value)) return value;
    this.#report(path);
    return null;
  }

  async #remove(path: string): Promise<void> {
    try {
      await this.#fs.unlink(join(this.#folder, path));
    } catch (error) {
      if (!isErrno(error, 'ENOENT')) throw error;
    }
  }

  async #writeJson(
    path: string,
    value: unknown,
    { durable, ...options }: { durable: false } | { durable: true; mode?: number },
  ): Promise<void> {
    const full = join(this.#folder, path);
    const bytes = Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
    await (durable ? makeDurableFolder(this.#fs, dirname(full)) : this.#fs.makeFolder(dirname(full)));
    await (durable ? writeDurable(this.#fs, full, bytes, options) : writeAtomic(this.#fs, full, bytes));
  }

  #report(path: string): void {
    this.#logger.warn(`mesh/${path} is damaged and counts as absent`);
  }
}

/** Any name as a file name that is the same on every disk: all but a-z, 0-9, "-", "_" and inner dots is written %XX. */
function remotePath(name: string): string {
  const encoded = Array.from(Buffer.from(name, 'utf8'), (byte, at) => {
    const char = String.fromCharCode(byte);
    return /[a-z0-9_-]/.test(char) || (char === '.' && at > 0)
      ? char
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');
  return `remotes/${encoded}.json`;
}
