import { join } from 'node:path';
import { decodeCommit, decodeTree, maxTreeBytes } from '../domain/git-object.js';
import type { CommitObject, GitObject, ObjectType, TreeEntry } from '../domain/git-object.js';
import type { Oid } from '../domain/ids.js';
import { MeshError } from '../errors.js';
import { BoundedCache } from './bounded-cache.js';
import type { Densified, DensifyBounds } from './densify.js';
import { DiskObjects } from './disk-objects.js';
import type { Fs } from './fs.js';
import type { NewObject } from './loose-objects.js';
import { LostObjects } from './lost-objects.js';
import { makePack } from './make-pack.js';
import { hashObject } from './object-id.js';
import { installAsPack } from './pack-install.js';
import { packCount } from './pack-read.js';
import type { PackLimits } from './pack-read.js';
import { requireComplete, unpack } from './pack-unpack.js';
import { PackUpkeep } from './pack-upkeep.js';
import { packFiles } from './pack-write.js';
import type { MaintainBounds, Objects, StagedObject, WrittenObject } from './ports.js';
import { ShallowFile } from './shallow-file.js';

/** The deltas of a pack of no more objects than this are resolved. */
const maxUnpacked = 200;
/** All objects of such a pack are in memory together. */
const maxUnpackedBytes = 256 * 1024 * 1024;
/** Of a larger pack: they are made one after the other, which takes a minute for so many. */
const maxInflatedBytes = 8 * 1024 * 1024 * 1024;
/** Nothing in a mesh is near this. */
const maxReadBytes = 64 * 1024 * 1024;
/** An acknowledgement of a thousand messages has 50,000 characters. */
const maxCommitBytes = 1024 * 1024;
/** What they hold weighs as much again where garbage has not been collected yet. */
const maxCachedBytes = { raw: 6 * 1024 * 1024, commits: 6 * 1024 * 1024, trees: 12 * 1024 * 1024 };
/** Of an object as its bytes: larger are only trees, which are kept as what they say. */
const maxRawBytes = 64 * 1024;
/** The objects around those bytes, which weigh more than most contents of a mesh. */
const rawOverheadBytes = 450;
const maxKnown = 20_000;
/** {@link Objects} in a bare repository's `objects` folder. */
export class StoreObjects implements Objects {
  readonly #fs: Fs;
  readonly #disk: DiskObjects;
  readonly #upkeep: PackUpkeep;
  readonly #packFolder: string;
  readonly #quarantine: string;
  readonly #shallow: ShallowFile;
  readonly #raw = new BoundedCache<Oid, GitObject>(maxCachedBytes.raw);
  readonly #commits = new BoundedCache<Oid, CommitObject>(maxCachedBytes.commits);
  readonly #trees = new BoundedCache<Oid, readonly TreeEntry[]>(maxCachedBytes.trees);
  /** Objects that were seen here, for the check of a fetched pack. Not for writing: a prune may have taken them. */
  readonly #known = new BoundedCache<Oid, true>(maxKnown);

  readonly #staged = new Map<Oid, GitObject>();
  readonly lost: LostObjects;

  constructor(fs: Fs, gitdir: string) {
    this.#fs = fs;
    this.#packFolder = join(gitdir, 'objects', 'pack');
    this.#disk = new DiskObjects(fs, gitdir);
    this.#upkeep = new PackUpkeep(fs, this.#packFolder, this.#disk);
    this.#quarantine = join(gitdir, 'mesh', 'incoming');
    this.#shallow = new ShallowFile(fs, gitdir);
    this.lost = new LostObjects(fs, join(gitdir, 'mesh'));
  }

  async read(oid: Oid): Promise<GitObject> {
    return this.#read(oid, maxReadBytes);
  }

  async commit(oid: Oid): Promise<CommitObject> {
    const cached = this.#commits.get(oid);
    if (cached !== undefined) return cached;
    const { type, data } = await this.#read(oid, maxCommitBytes);
    if (type !== 'commit') throw wrongType(oid, type, 'commit');
    const commit = decodeCommit(data);
    this.#commits.set(oid, commit, 4 * data.length);
    return commit;
  }

  async tree(oid: Oid): Promise<readonly TreeEntry[]> {
    const cached = this.#trees.get(oid);
    if (cached !== undefined) return cached;
    const { type, data } = await this.#read(oid, maxTreeBytes);
    if (type !== 'tree') throw wrongType(oid, type, 'tree');
    const entries = decodeTree(data);
    this.#trees.set(oid, entries, 4 * data.length);
    return entries;
  }

  async blob(oid: Oid, maxBytes: number): Promise<Uint8Array> {
    const { type, data } = await this.#read(oid, maxBytes);
    if (type !== 'blob') throw wrongType(oid, type, 'blob');
    return data;
  }

  async has(oid: Oid): Promise<boolean> {
    const found = await this.#disk.has(oid);
    if (found) this.#known.set(oid, true, 1);
    return found;
  }

  async write(objects: readonly WrittenObject[]): Promise<Oid[]> {
    const named = objects.map(({ type, data, oid = hashObject(type, data) }) => ({ oid, type, data }));
    await this.#add(named);
    return named.map(({ oid }) => oid);
  }

  stage(objects: readonly StagedObject[]): void {
    for (const { oid, type, data, entries } of objects) {
      this.#staged.set(oid, { type, data });
      if (entries !== undefined) this.#trees.set(oid, entries, 4 * data.length);
    }
  }

  unstage(objects: readonly StagedObject[]): void {
    for (const { oid } of objects) this.#staged.delete(oid);
  }

  async pack(oids: readonly Oid[], bases: ReadonlyMap<Oid, Oid> = new Map()): Promise<Uint8Array> {
    return makePack((oid) => this.read(oid), oids, bases);
  }

  async installPack(pack: Uint8Array, limits: PackLimits): Promise<void> {
    const readBase = async (oid: Oid): Promise<GitObject | null> => ((await this.has(oid)) ? this.read(oid) : null);
    if (packCount(pack) > maxUnpacked) {
      const place = { fs: this.#fs, quarantine: this.#quarantine, packFolder: this.#packFolder };
      await installAsPack(pack, place, { maxInflatedBytes, ...limits, readBase });
      return;
    }
    const objects = await unpack(pack, { maxInflatedBytes: maxUnpackedBytes, ...limits, readBase });
    const edges = await this.#shallow.read();
    await requireComplete(objects, { edges, has: async (oid) => this.#known.has(oid) || (await this.has(oid)) });
    await this.#add(objects);
  }

  async edges(): Promise<ReadonlySet<Oid>> {
    return this.#shallow.read();
  }

  async moveEdges(change: { add?: Iterable<Oid>; remove?: Iterable<Oid> }): Promise<void> {
    await this.#shallow.move(change);
  }

  ids(): AsyncIterable<Oid> {
    return this.#disk.ids();
  }

  async putLooseAside(aside: string): Promise<Oid[]> {
    const { loose } = this.#disk;
    const damagedOnes: Oid[] = [];
    for (const oid of await loose.ids()) {
      if ((await loose.read(oid, maxReadBytes)) !== 'damaged') continue;
      await loose.moveTo(oid, aside);
      damagedOnes.push(oid);
    }
    return damagedOnes;
  }

  async forget(): Promise<void> {
    this.#known.clear();
    this.#raw.clear();
    await this.#disk.forget();
  }

  async isScattered(): Promise<boolean> {
    return this.#upkeep.isScattered();
  }

  async consolidate(): Promise<void> {
    await this.#upkeep.consolidate();
  }

  async maintain(bounds: MaintainBounds): Promise<boolean> {
    const more = await this.#upkeep.gather(bounds);
    const hasJoined = await this.#upkeep.consolidate();
    // Of the whole a dense pack is made next: while somebody sends, there would be small ones to join again and again.
    return more || (hasJoined && !bounds.whole);
  }

  async densify(bounds: DensifyBounds): Promise<Densified | null> {
    return this.#upkeep.densify(bounds);
  }

  async replace(densified: Densified): Promise<void> {
    await this.#upkeep.replace(densified);
  }

  /** What is there already is written again: a look into every pack costs more, and a damaged copy is none. */
  async #add(objects: readonly NewObject[]): Promise<void> {
    const unique = [...new Map(objects.map((object) => [object.oid, object])).values()];
    if (unique.length === 0) return;
    await this.#upkeep.publish(await packFiles(unique));
    for (const { oid, type, data } of unique) {
      this.#known.set(oid, true, 1);
      this.#keepRaw(oid, { type, data });
    }
  }

  #keepRaw(oid: Oid, object: GitObject): void {
    if (object.data.length <= maxRawBytes) this.#raw.set(oid, object, object.data.length + rawOverheadBytes);
  }

  async #read(oid: Oid, maxBytes: number): Promise<GitObject> {
    const cached = this.#staged.get(oid) ?? this.#raw.get(oid);
    const found = cached ?? (await this.#disk.read(oid, maxBytes));
    if (found === 'missing') throw damaged(oid, 'is missing');
    if (found === 'damaged') {
      await this.lost.note([oid]);
      throw damaged(oid, 'is damaged');
    }
    if (found === 'too large' || found.data.length > maxBytes) {
      throw new MeshError('payload_too_large', `object ${oid} has more than the ${maxBytes} bytes allowed here`, {
        data: { oid, limit: maxBytes },
      });
    }
    if (cached === undefined) this.#keepRaw(oid, found);
    return found;
  }
}

function damaged(oid: Oid, what: string): MeshError {
  return new MeshError(
    'store_damaged',
    `object ${oid} of the store ${what}: expected every object that a branch names; run git mesh sync, which fetches again what a remote has of it, then git mesh doctor, which says what is still missing`,
    { data: { oid } },
  );
}

function wrongType(oid: Oid, type: ObjectType, expected: ObjectType): MeshError {
  return new MeshError('store_damaged', `object ${oid} is a ${type}, expected a ${expected}: run git mesh doctor`, {
    data: { oid },
  });
}
