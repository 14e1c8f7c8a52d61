import { dirname, join, resolve } from 'node:path';
import type { Clock, RandomBytes } from '../domain/clock.js';
import type { RefName } from '../domain/ids.js';
import { branchRef } from '../domain/ref-names.js';
import { MeshError } from '../errors.js';
import type { Logger } from '../logger.js';
import { configPath, readConfig, readConfigOrCopy, writeConfig } from './config.js';
import { writeDurable } from './durable-fs.js';
import type { Fs } from './fs.js';
import { errnoOf, isErrno } from './fs.js';
import { bareConfig } from './git-config.js';
import { guardedFs } from './guarded-fs.js';
import { FileJournal } from './journal.js';
import { MachineKey, keyPath, readKey, writeKey } from './keys.js';
import { FileLocalState } from './local-state.js';
import { byHand, inBackground } from './maintain-bounds.js';
import type { MaintainRun } from './maintain-run.js';
import { writeHead } from './mend-repository.js';
import { mendPacks, suspectPacks } from './mend-packs.js';
import { nodeFs } from './node-fs.js';
import { StoreObjects } from './objects.js';
import { OwnKey } from './own-key.js';
import { Ownership } from './ownership.js';
import type { Journal, LocalState, Objects, Refs, Signer, StoreConfig } from './ports.js';
import { StoreRefs } from './refs.js';
import { draftPath, forgetMaker, nameMaker, sweepDrafts } from './store-draft.js';
import { StoreLock, lockPath } from './store-lock.js';
import { checkPlace, checkVacant, elsewhere, storeAt } from './store-place.js';
import { sweepStore } from './sweep.js';

export interface StoreDeps {
  /** The disk; the real one when left out. */
  fs?: Fs;
  clock: Clock;
  random: RandomBytes;
  logger: Logger;
}

/** A store that is being made in a temporary folder beside its place, where no one looks for it. */
export interface StoreDraft {
  /** Works like any store until {@link StoreDraft.publish}. */
  readonly store: Store;
  /**
   * Puts it in its place in one step and gives it opened there.
   * @throws MeshError `mesh_exists` or `store_unusable` when something came to be there meanwhile.
   */
  publish(): Promise<Store>;
  /** Removes it. */
  discard(): Promise<void>;
}

/** One machine's store: a bare git repository with the machine's own state in its `mesh` folder. */
export class Store {
  readonly dir: string;
  /** Through which all of it is read and written; its errors name paths relative to the store. */
  readonly fs: Fs;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly logger: Logger;
  readonly objects: Objects;
  readonly refs: Refs;
  readonly journal: Journal;
  readonly local: LocalState;
  /** The machine's key and what takes its place. */
  readonly key: OwnKey;
  /** Whether this store may write. */
  readonly ownership: Ownership;
  readonly #lock: StoreLock;
  readonly #raw: Fs;
  #config: StoreConfig;
  /** Of the file that `#config` was last read from; null before. */
  #configStamp: string | null = null;

  private constructor(dir: string, fs: Fs, deps: StoreDeps, parts: { config: StoreConfig; key: MachineKey }) {
    this.dir = dir;
    this.fs = fs;
    this.#raw = deps.fs ?? nodeFs;
    this.clock = deps.clock;
    this.random = deps.random;
    this.logger = deps.logger;
    this.#config = parts.config;
    this.key = new OwnKey(fs, dir, parts.key);
    this.objects = new StoreObjects(fs, dir);
    this.refs = new StoreRefs(fs, dir);
    this.journal = new FileJournal(fs, join(dir, 'mesh', 'journal'), parts.config.store);
    this.local = new FileLocalState(fs, join(dir, 'mesh'), deps.logger);
    this.ownership = new Ownership({
      dir,
      fs,
      raw: this.#raw,
      local: this.local,
      journal: this.journal,
      random: deps.random,
      config: () => this.#config,
    });
    this.#lock = new StoreLock(fs, lockPath(dir));
  }

  /** @throws MeshError `no_mesh`, `store_unusable`, `store_damaged`, `format_too_new`. */
  static async open(dir: string, deps: StoreDeps): Promise<Store> {
    const place = resolve(dir);
    const fs = guardedFs(deps.fs ?? nodeFs, place);
    await checkPlace(guardedFs(deps.fs ?? nodeFs, place, { as: storeAt(place) }), place, deps.logger);
    const config = await readConfigOrCopy(fs, place);
    return new Store(place, fs, deps, { config, key: await readKey(fs, place) });
  }

  /**
   * Looks whether a store may be made at `dir`, and removes what killed processes left of ones they made there.
   * @throws MeshError `mesh_exists` when `dir` is a store already, `store_unusable` when something else is there.
   */
  static async prepare(dir: string, deps: Pick<StoreDeps, 'fs'> = {}): Promise<void> {
    const place = resolve(dir);
    const outside = guardedFs(deps.fs ?? nodeFs, dirname(place), { as: storeAt(place) });
    await checkVacant(outside, place);
    await sweepDrafts(outside, place);
  }

  /**
   * Makes a store with a new key (or `key`) in a temporary folder beside `dir`.
   * @throws MeshError `mesh_exists` when `dir` is a store already, `store_unusable` when something else is there.
   */
  static async create(
    dir: string,
    make: { config: StoreConfig; key?: MachineKey },
    deps: StoreDeps,
  ): Promise<StoreDraft> {
    const place = resolve(dir);
    const raw = deps.fs ?? nodeFs;
    const outside = guardedFs(raw, dirname(place), { as: storeAt(place) });
    await Store.prepare(place, deps);
    await outside.makeFolder(dirname(place));
    const draft = draftPath(place);
    const fs = guardedFs(raw, draft, { as: storeAt(place) });
    const key = make.key ?? MachineKey.generate(deps.random);
    const discard = (): Promise<void> => fs.removeAll(draft);
    try {
      await fs.makeFolder(join(draft, 'mesh'));
      await nameMaker(fs, draft);
      for (const folder of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags']) {
        await fs.makeFolder(join(draft, folder));
      }
      await writeDurable(fs, join(draft, 'config'), Buffer.from(bareConfig));
      await writeHead(fs, draft, make.config);
      await writeKey(fs, keyPath(draft), key, { random: deps.random, comment: `${make.config.handle}@mesh.invalid` });
      await writeConfig(fs, draft, make.config);
      for (const folder of ['objects', 'refs', '.']) await fs.syncFolder(join(draft, folder));
    } catch (error) {
      await discard();
      throw error;
    }
    const store = new Store(draft, fs, deps, { config: make.config, key });
    return { store, discard, publish: () => publish(outside, { draft, place, deps }) };
  }

  get config(): StoreConfig {
    return this.#config;
  }

  /** Signs with the machine's key as it is now. */
  get signer(): Signer {
    return this.key.signer;
  }

  /** The machine's own branch. */
  get branch(): RefName {
    return branchRef(this.#config.ref_prefix, this.#config.handle);
  }

  /** Under the store lock (taken here). Other processes see it when they open the store. */
  async saveConfig(next: StoreConfig): Promise<void> {
    await this.withLock(async () => {
      const moved = next.handle !== this.#config.handle || next.ref_prefix !== this.#config.ref_prefix;
      if (moved) await writeHead(this.fs, this.dir, next);
      await writeConfig(this.fs, this.dir, next);
      this.#config = next;
    });
  }

  /**
   * Changes the configuration as it is on the disk now, under the store lock (taken here). What `change` throws leaves
   * it as it was; what belongs to the change may be done in it.
   */
  async editConfig(change: (current: StoreConfig) => StoreConfig | Promise<StoreConfig>): Promise<StoreConfig> {
    return this.withLock(async () => {
      const next = await change(await readConfig(this.fs, this.dir));
      await writeConfig(this.fs, this.dir, next);
      this.#config = next;
      return next;
    });
  }

  /**
   * Takes over the remotes that another process saved since. Cheap where nothing was; what else a store is does not
   * change under a process that has it open.
   * @throws MeshError as {@link Store.open} does; what was known before then still holds.
   */
  async refreshRemotes(): Promise<StoreConfig['remotes']> {
    const stat = await this.fs.stat(configPath(this.dir));
    const stamp = stat === null ? null : [stat.mtimeMs, stat.size, stat.inode].join();
    if (stamp === null || stamp !== this.#configStamp) {
      const { remotes } = await readConfig(this.fs, this.dir);
      this.#config = { ...this.#config, remotes };
      this.#configStamp = stamp;
    }
    return this.#config.remotes;
  }

  /** See {@link StoreLock.run}. @throws MeshError `locked`. */
  async withLock<T>(work: () => Promise<T>, options: { timeoutMs?: number } = {}): Promise<T> {
    return this.#lock.run(work, options);
  }

  /**
   * Joins small packs where there are many. Takes the store lock, where the caller does not hold it. What keeps it from
   * that (a full disk, another holder) is only logged: whoever comes next tries again.
   */
  async consolidate(): Promise<void> {
    try {
      if (!(await this.objects.isScattered())) return;
      if (this.#lock.isHeldHere) await this.objects.consolidate();
      else await this.#lock.run(() => this.objects.consolidate());
    } catch (error) {
      if (!(error instanceof MeshError)) throw error;
      this.logger.debug(`the small packs could not be joined: ${error.message}`);
    }
  }

  /**
   * One step of maintenance, at once (`whole`) or beside other work. The store lock is held for a moment at a time, and not
   * while a dense pack is made. Gives whether another step has more to do: of all that is there by then, or where they are
   * steps of one `run`, of what was there when it began.
   * @throws MeshError `locked`, `disk_full`, `read_only`; the signal's reason.
   */
  async maintain({
    whole,
    signal,
    run,
  }: {
    whole: boolean;
    signal?: AbortSignal;
    run?: MaintainRun;
  }): Promise<boolean> {
    const bounds = { ...(whole ? byHand : inBackground), signal };
    if (await this.#lock.run(() => this.objects.maintain(bounds))) return true;
    const densified = await this.objects.densify(bounds);
    if (densified === null) return false;
    await this.#lock.run(() => this.objects.replace(densified));
    return run === undefined || run.goesOn(densified);
  }

  /** Packs that seem to be damaged, by name; all of them where an object was found damaged. Cheap while none was. */
  async suspectPacks(): Promise<string[]> {
    const all = await this.objects.lost.isToBeSearched();
    return suspectPacks({ fs: this.fs, folder: join(this.dir, 'objects', 'pack') }, { all });
  }

  /**
   * Puts damaged packs and objects aside (`mesh/damaged`), with what can be read of them saved, and notes what is lost.
   * Only under the store lock. Gives how many there were.
   */
  async mendObjects(suspect: readonly string[]): Promise<number> {
    const { lost } = this.objects;
    const aside = join(this.dir, 'mesh', 'damaged');
    const folder = join(this.dir, 'objects', 'pack');
    const loose = (await lost.isToBeSearched()) ? await this.objects.putLooseAside(aside) : [];
    const packs = await mendPacks({ fs: this.fs, folder, aside }, this.objects, suspect);
    if (packs.setAside.length > 0 || loose.length > 0) await lost.note([...packs.lost, ...loose]);
    await lost.searched();
    return packs.setAside.length + loose.length;
  }

  /**
   * Takes back a store that was published a moment ago: out of its place in one step, so that no one finds half of it,
   * and away. For the one who published it.
   */
  async retract(): Promise<void> {
    const outside = guardedFs(this.#raw, dirname(this.dir));
    const draft = draftPath(this.dir);
    await outside.rename(this.dir, draft);
    await outside.removeAll(draft);
  }

  /** Removes what killed processes left in it and beside it. Safe at any time; gives the number of things removed. */
  async sweep(): Promise<number> {
    const beside = await sweepDrafts(guardedFs(this.#raw, dirname(this.dir)), this.dir);
    return beside + ((await forgetMaker(this.fs, this.dir)) ? 1 : 0) + (await sweepStore(this.fs, this.dir));
  }
}

async function publish(fs: Fs, at: { draft: string; place: string; deps: StoreDeps }): Promise<Store> {
  const { draft, place, deps } = at;
  await checkVacant(fs, place);
  try {
    // Not every platform renames a folder over an empty one.
    if ((await fs.stat(place)) !== null) await fs.removeFolder(place);
    await fs.rename(draft, place);
  } catch (error) {
    if (!isErrno(error, 'ENOTEMPTY', 'EEXIST', 'ENOTDIR', 'ENOENT')) throw error;
    await checkVacant(fs, place);
    throw new MeshError(
      'store_unusable',
      `the store could not be put in its place, ${place} (${errnoOf(error) ?? 'unknown'}): remove what is there (a symbolic link that leads nowhere?), or ${elsewhere}`,
      { cause: error },
    );
  }
  try {
    await fs.syncFolder(dirname(place));
    const store = await Store.open(place, deps);
    await forgetMaker(fs, place);
    // From now on a copy of it can be told from it.
    await store.ownership.claim();
    return store;
  } catch (error) {
    // Back where the caller discards it: a failure leaves no store behind.
    await fs.rename(place, draft);
    throw error;
  }
}
