import type { GitObject } from '../domain/git-object.js';
import { asBuffer } from './as-buffer.js';
import { BoundedCache } from './bounded-cache.js';
import { DeltaBase, encodeDelta } from './delta-encoder.js';
import { newestFirst, orderedCommit } from './dense-order.js';
import type { OrderedCommit } from './dense-order.js';
import { DenseSources } from './dense-sources.js';
import type { Found, Key } from './dense-sources.js';
import { DenseWriter, deflatedBest, wholeEntry } from './dense-writer.js';
import { indexedObjects } from './pack-index-format.js';
import { makePackIndex } from './pack-index-write.js';
import { isBest } from './pack-classes.js';
import type { Pace } from './pace.js';
import type { ReadPack } from './pack-sources.js';
import type { PackFiles } from './pack-write.js';

/** How many deltas a reader has to go through at most; git makes 50. */
const maxDepth = 24;
/** Objects that may become bases, with their indexes. */
const maxBasesBytes = 16 * 1024 * 1024;
/** A larger object becomes no delta. */
const maxDeltaBytes = 1024 * 1024;
const maxObjectBytes = 64 * 1024 * 1024;

/**
 * One pack of all objects of some packs, reachable or not, as small as is cheap: an object that is nearly like another is
 * a delta of it. The commits stand first and the newest first, then what each brought; the newest of a folder or a file
 * is whole, and the older ones are deltas of newer ones. Deltas that the packs have are taken over.
 *
 * Reads and changes nothing on the disk. What it made is read again in full before it is given, so a fault here loses
 * nothing.
 * @throws MeshError `protocol_error` for a pack that does not resolve, and what the pace throws.
 */
export async function densePack(packs: readonly ReadPack[], pace: Pace): Promise<PackFiles> {
  const sources = new DenseSources(packs);
  const maker = new Maker(sources, pace);
  const commits: OrderedCommit[] = [];
  for (const key of sources.keys()) {
    const { kind } = sources.find(key);
    if (kind !== 'commit' && kind !== 'delta') continue;
    const commit = orderedCommit(key, await sources.object(key));
    if (commit !== null) commits.push(commit);
    await pace.breathe();
  }
  const ordered = newestFirst(commits);
  for (const { key, by } of ordered) await maker.add(key, [`commit ${by}`]);
  for (const { tree, by } of ordered) await addTree(maker, sources, { tree, by });
  for (const key of sources.keys()) if (!maker.has(key)) await maker.add(key, ['']);
  const pack = maker.pack();
  const made = await makePackIndex(pack, { maxObjectBytes });
  if (!('index' in made)) throw new Error('a pack was made that leaves out a base');
  const has = new Set(indexedObjects(made.index)?.map(({ oid }) => oid.toString('latin1')));
  for (const key of sources.keys()) if (!has.has(key)) throw new Error('a pack was made that leaves out an object');
  return { name: `pack-${Buffer.from(pack.subarray(-20)).toString('hex')}`, pack, index: made.index };
}

/** A commit's tree and what is new below it. Not by recursion: others made these trees. */
async function addTree(maker: Maker, sources: DenseSources, { tree, by }: { tree: Key; by: string }): Promise<void> {
  const isNew = (key: Key): boolean => sources.has(key) && !maker.has(key);
  const waiting: { key: Key; path: string }[] = [{ key: tree, path: '' }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { key, path } = next;
    if (!isNew(key)) continue;
    // A message has a path of its own, and is most like the one before.
    const top = path.slice(0, path.indexOf('/', 1) + 1);
    const { type, data } = await maker.add(key, [`${by}${path}`, `${by} file ${top}`]);
    if (type !== 'tree') continue;
    const before = waiting.length;
    for (const child of children(data))
      if (isNew(child.key)) waiting.push({ key: child.key, path: `${path}/${child.name}` });
    waiting.splice(before, waiting.length - before, ...waiting.slice(before).reverse());
  }
}

/** Of a tree, without a look at anything but where entries end. */
function* children(tree: Uint8Array): Generator<{ key: Key; name: string }> {
  const bytes = asBuffer(tree);
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf(0, at);
    if (end === -1 || end + 21 > bytes.length) return;
    const name = bytes.toString('latin1', bytes.indexOf(0x20, at) + 1, end);
    yield { key: bytes.toString('latin1', end + 1, end + 21), name };
    at = end + 21;
  }
}

/** An object that was added and may become a base. */
interface Near {
  key: Key;
  base: DeltaBase;
}

class Maker {
  readonly #sources: DenseSources;
  readonly #writer: DenseWriter;
  /** By what it is the like of: what was added last, and the last that is whole. */
  readonly #near = new BoundedCache<string, { last: Near; whole: Near }>(maxBasesBytes);
  readonly #pace: Pace;

  constructor(sources: DenseSources, pace: Pace) {
    this.#pace = pace;
    this.#sources = sources;
    this.#writer = new DenseWriter(sources.size);
  }

  has(key: Key): boolean {
    return this.#writer.depth(key) !== null;
  }

  pack(): Uint8Array {
    return this.#writer.pack();
  }

  /** Adds an object; `likes` names what it is one of, the likest first. Gives it whole. */
  async add(key: Key, likes: readonly string[]): Promise<GitObject> {
    await this.#pace.breathe();
    const found = this.#sources.find(key);
    const object = await this.#sources.object(key);
    const names = likes.map((like) => `${object.type} ${like}`);
    if (!this.#takeOver(found)) await this.#make(found, object, names);
    if (object.data.length <= maxDeltaBytes) this.#note({ key, base: new DeltaBase(object.data) }, names);
    return object;
  }

  /** A delta goes on as it is where its base came before. */
  #takeOver({ key, base, size, deflated }: Found): boolean {
    const depth = base === null ? null : this.#writer.depth(base);
    if (base === null || depth === null || depth >= maxDepth) return false;
    this.#writer.addDelta(key, base, { size, deflated });
    return true;
  }

  async #make(found: Found, object: GitObject, names: readonly string[]): Promise<void> {
    const { key, kind, entry } = found;
    const wholeBytes = (): Promise<Uint8Array> | Uint8Array =>
      kind !== 'delta' && isBest(entry) ? entry : wholeEntry(object.type, object.data);
    const best = object.data.length > maxDeltaBytes ? null : this.#bestDelta(object.data, names);
    if (best === null) {
      this.#writer.addWhole(key, await wholeBytes());
      return;
    }
    const { base, delta } = best;
    const deflated = await deflatedBest(delta);
    // Far smaller: no need to know what the whole would take.
    const whole = delta.length * 8 < object.data.length ? null : await wholeBytes();
    // Of the head and the distance, three bytes are more than a whole one has.
    if (whole !== null && deflated.length + 3 >= whole.length - 8) this.#writer.addWhole(key, whole);
    else this.#writer.addDelta(key, base, { size: delta.length, deflated });
  }

  /** The shortest, and among nearly equal ones the one that a reader is through with sooner. */
  #bestDelta(data: Uint8Array, names: readonly string[]): { base: Key; delta: Buffer } | null {
    let best: { base: Key; delta: Buffer } | null = null;
    let cost = data.length * 0.9 - 20;
    const tried = new Set<Key>();
    for (const name of names) {
      const near = this.#near.get(name);
      for (const { key, base } of near === undefined ? [] : [near.whole, near.last]) {
        const depth = this.#writer.depth(key) ?? maxDepth;
        if (depth >= maxDepth || tried.has(key)) continue;
        tried.add(key);
        const weight = 1 + depth / maxDepth;
        const delta = encodeDelta(base, data, Math.floor(cost / weight));
        if (delta === null) continue;
        best = { base: key, delta };
        cost = delta.length * weight;
      }
    }
    return best;
  }

  #note(near: Near, names: readonly string[]): void {
    const isWhole = this.#writer.depth(near.key) === 0;
    for (const name of names) {
      const before = this.#near.get(name);
      const whole = isWhole || before === undefined ? near : before.whole;
      this.#near.set(name, { last: near, whole }, 3 * (near.base.data.length + whole.base.data.length) + 500);
    }
  }
}
