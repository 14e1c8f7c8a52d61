import { MeshError, branchRef, decodeCommit, remoteRef } from '@git-mesh/core';
import type { GitObject, Handle, Oid } from '@git-mesh/core';
import type { Wanted } from './fetch-objects.js';
import { newObjects } from './new-objects.js';
import type { ObjectsRead } from './new-objects.js';
import type { RoundContext } from './remote-context.js';
import type { RemoteView } from './transport/port.js';

/** What is more comes as a pack, from git. */
const maxCommits = 32;
const maxObjects = 200;
const maxBytes = 8 * 1024 * 1024;

/**
 * Brings in what is new of the wanted branches without any service, as one pack: what a round usually finds is a commit or
 * two. A branch of which something cannot be read, or that went on for longer, is left to {@link fetchObjects}.
 */
export async function copyNew(ctx: RoundContext, view: RemoteView, wanted: readonly Wanted[]): Promise<void> {
  const { objects } = ctx.mesh.store;
  const read = new CopiedObjects(ctx, view);
  const oids = new Set<Oid>();
  for (const one of wanted) for (const oid of (await newOf(ctx, one, read)) ?? []) oids.add(oid);
  const copied: (GitObject & { oid: Oid })[] = [];
  for (const oid of oids) copied.push({ oid, ...(await read.read(oid)) });
  if (copied.length > 0) await objects.write(copied);
}

/** The new objects of a branch, all of them read; null where that cannot be. */
async function newOf(ctx: RoundContext, { handle, oid }: Wanted, read: CopiedObjects): Promise<Oid[] | null> {
  try {
    const known = await tipsOf(ctx, handle);
    let from: Oid | undefined = oid;
    for (let commits = 0; from !== undefined && !known.has(from); commits++) {
      if (commits >= maxCommits) return null;
      from = (await read.commit(from)).parents[0];
    }
    const oids = await newObjects(read, from ?? null, oid);
    for (const each of oids) await read.read(each);
    return oids;
  } catch (error) {
    if (error instanceof MeshError) return null;
    throw error;
  }
}

/** Where the branch is here with all that it needs. */
async function tipsOf({ mesh, remote }: RoundContext, handle: Handle): Promise<Set<Oid>> {
  const { config, refs } = mesh.store;
  const tips = await Promise.all(
    [branchRef(config.ref_prefix, handle), remoteRef(remote.name, config.ref_prefix, handle)].map((ref) =>
      refs.read(ref),
    ),
  );
  return new Set(tips.filter((tip) => tip !== null));
}

/** Objects out of the view, each read once, and those of the store for what the view does not give. */
class CopiedObjects implements ObjectsRead {
  readonly #ctx: RoundContext;
  readonly #view: RemoteView;
  readonly #taken = new Map<Oid, GitObject>();
  #bytes = 0;

  constructor(ctx: RoundContext, view: RemoteView) {
    this.#ctx = ctx;
    this.#view = view;
  }

  async read(oid: Oid): Promise<GitObject> {
    const taken = this.#taken.get(oid);
    if (taken !== undefined) return taken;
    const { signal, mesh } = this.#ctx;
    if (signal.aborted) throw new MeshError('deadline', 'the time was over before all of it was read');
    const found = await this.#view.read(oid);
    if (found === null) {
      // Not by reading it, which takes a missing object for damage.
      if (await mesh.store.objects.has(oid)) return mesh.store.objects.read(oid);
      throw new MeshError('protocol_error', `object ${oid} cannot be read by itself`);
    }
    this.#bytes += found.data.length;
    if (this.#taken.size >= maxObjects || this.#bytes > maxBytes)
      throw new MeshError('payload_too_large', 'more is new than is read one by one');
    this.#taken.set(oid, found);
    return found;
  }

  async commit(oid: Oid): ReturnType<ObjectsRead['commit']> {
    const { type, data } = await this.read(oid);
    if (type !== 'commit') throw new MeshError('protocol_error', `object ${oid} is no commit`);
    return decodeCommit(data);
  }

  /** The walk ends at what is here, or at a first commit. */
  edges(): Promise<ReadonlySet<Oid>> {
    return Promise.resolve(new Set());
  }
}
