import { parseCommitMessage } from '../domain/commit-message.js';
import type { ParsedCommitMessage } from '../domain/commit-message.js';
import type { CommitObject } from '../domain/git-object.js';
import type { Handle, Oid } from '../domain/ids.js';
import type { LogInput } from '../domain/inputs.js';
import { SigningKeys, keysOf } from '../domain/key-chain.js';
import { charterRef } from '../domain/layout.js';
import { MeshError } from '../errors.js';
import { readCharter } from './charter.js';
import type { MeshContext } from './context.js';
import type { Edge } from './older-history.js';

/** A commit on the way. */
export interface Walked {
  handle: Handle;
  oid: Oid;
  commit: CommitObject;
  /** Null where its message is none of a mesh. */
  said: ParsedCommitMessage | null;
  /** The key that must have signed it; undefined where that cannot be told. */
  key: string | undefined;
  /** Its machine was revoked. */
  revoked: boolean;
}

/** Where the walk stands on one branch. */
interface Head {
  handle: Handle;
  /** Null where machine.yaml of the tip cannot be read. */
  keys: SigningKeys | null;
  oid: Oid;
  commit: CommitObject;
  revoked?: boolean;
  /** How many of its commits in a row were dated before the time asked for. */
  early?: number;
}

/**
 * A clock that was wrong for a while dates commits too early, with later ones below them. A branch is left once this many
 * in a row are too early: its whole history would cost the more the older it is.
 */
const maxEarly = 1_000;

export interface WalkOptions {
  /** Called with each machine's edge that the log came to: what is older is not in this store. */
  onEdge?: (edge: Edge) => void;
}

/** The commits of every machine's branch, newest first by commit time, each branch in its own order. */
export async function* newestFirst(
  ctx: MeshContext,
  wanted: Pick<LogInput, 'machine' | 'since'>,
  { onEdge }: WalkOptions,
): AsyncGenerator<Walked> {
  const edges = await ctx.branches.edges();
  const heads: Head[] = [];
  for (const branch of await ctx.branches.all()) {
    if (wanted.machine !== undefined && branch.handle !== wanted.machine) continue;
    const commit = await ctx.store.objects.commit(branch.tip);
    const { handle, machine, tip: oid } = branch;
    const keys = machine === null ? null : new SigningKeys(keysOf(machine), machine.key);
    heads.push({ handle, keys, oid, commit, revoked: branch.revoked !== undefined });
  }
  const charter = await charterHead(ctx);
  if (charter !== null && (wanted.machine ?? charter.handle) === charter.handle) heads.push(charter);
  while (heads.length > 0) {
    const newest = heads.reduce((a, b) => (b.commit.committer.at > a.commit.committer.at ? b : a));
    const said = parseCommitMessage(newest.commit.message);
    // Asked of every commit, those that nobody looks at too: each tells what key signed the ones before it.
    const key = newest.keys?.older(said?.event);
    yield {
      handle: newest.handle,
      oid: newest.oid,
      commit: newest.commit,
      said,
      key,
      revoked: newest.revoked === true,
    };
    const [parent] = newest.commit.parents;
    const index = heads.indexOf(newest);
    const isEarly = wanted.since !== undefined && newest.commit.committer.at < wanted.since;
    const early = isEarly ? (newest.early ?? 0) + 1 : 0;
    const edge = edges.find(({ commit }) => commit === newest.oid);
    // What nobody asked for is not missed.
    if (edge !== undefined && !isEarly) onEdge?.(edge);
    if (parent === undefined || edge !== undefined || early >= maxEarly) heads.splice(index, 1);
    else heads[index] = { ...newest, oid: parent, commit: await ctx.store.objects.commit(parent), early };
  }
}

/** The founding of the mesh, as its founder's act; null where the store's copy of the charter cannot be read. */
async function charterHead({ store }: MeshContext): Promise<Head | null> {
  const oid = await store.refs.read(charterRef(store.config.ref_prefix));
  if (oid === null) return null;
  try {
    const { founder } = await readCharter(store.objects, oid);
    const keys = new SigningKeys([founder.key], founder.key);
    return { handle: founder.handle, keys, oid, commit: await store.objects.commit(oid) };
  } catch (error) {
    if (error instanceof MeshError) return null;
    throw error;
  }
}
