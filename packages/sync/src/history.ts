import { SigningKeys, branchRef, brokenLink, keysOf, machineAt, parseCommitMessage, verifyBytes } from '@git-mesh/core';
import type { Edge, MeshContext, Oid, Problem } from '@git-mesh/core';
import { isOfContent } from './fetch-objects.js';
import { installPart } from './install-part.js';
import { checkOlder } from './older-commits.js';
import { fetchLimits } from './remote-context.js';
import type { RoundContext } from './remote-context.js';
import { fetchPart, infiniteDepth, offersDepth } from './transport/fetch.js';
import type { Exchange } from './transport/port.js';

export interface HistoryOptions {
  /** Commits that one fetch asks for, of all branches together: each is kept whatever becomes of the next. */
  commitsAtOnce: number;
  onProgress?: ((line: string) => void) | undefined;
}

export interface HistoryFetched {
  /** Commits that passed the checks and are part of the history here now. */
  fetched: number;
  /** What stands in the way of the rest. */
  problems: Problem[];
}

/**
 * Brings in the older history that this store has not, in steps, each commit checked before it becomes part of it. Safe
 * to repeat: goes on from where it was ended.
 *
 * @throws MeshError what a fetch throws.
 */
export async function fetchHistory(ctx: RoundContext, options: HistoryOptions): Promise<HistoryFetched> {
  const { branches } = ctx.mesh;
  const settled = await settleHistory(ctx.mesh);
  let { fetched, problems } = settled;
  const stuck = new Set<Oid>(settled.stuck);
  for (;;) {
    const edges = (await accepted(ctx.mesh)).filter(({ commit }) => !stuck.has(commit));
    if (edges.length === 0) return { fetched, problems };
    const older = edges.reduce((sum, edge) => sum + edge.older, 0);
    options.onProgress?.(`fetching older history: ${older} commits to go`);
    const asked = await bringOlder(ctx, edges, options.commitsAtOnce);
    const step = await settleHistory(ctx.mesh);
    fetched += step.fetched;
    problems = [
      ...problems,
      ...step.problems.filter((one) => !problems.some(({ message }) => message === one.message)),
    ];
    for (const oid of step.stuck) stuck.add(oid);
    // A branch that is not there, or of which nothing came: another remote may have it.
    const left = new Set((await branches.edges()).map(({ commit }) => commit));
    for (const edge of edges) {
      if (!left.has(edge.commit) || stuck.has(edge.commit)) continue;
      stuck.add(edge.commit);
      problems = [...problems, missing(ctx, edge, asked.has(edge.commit))];
    }
  }
}

/** The edges of branches that were taken in: of one that waits to be admitted nothing more is fetched. */
async function accepted({ branches }: MeshContext): Promise<Edge[]> {
  const taken = new Set((await branches.allAccepted()).map(({ handle }) => handle));
  return (await branches.edges()).filter(({ machine }) => machine === branches.own || taken.has(machine));
}

/** Asks for what lies before the edges whose branch the remote has; gives those. */
async function bringOlder(ctx: RoundContext, edges: readonly Edge[], commitsAtOnce: number): Promise<Set<Oid>> {
  try {
    return await bringTogether(ctx, edges, commitsAtOnce);
  } catch (error) {
    if (!isOfContent(error)) throw error;
    if (edges.length === 1) return new Set(edges.map(({ commit }) => commit));
  }
  // What is in one of them must not stand in the way of the rest: each by itself, which is told of where nothing came.
  const asked = new Set<Oid>();
  for (const edge of edges.slice(0, maxAlone)) {
    for (const oid of await bringOlder(ctx, [edge], commitsAtOnce)) asked.add(oid);
  }
  return asked;
}

/** Branches that are asked for one by one after they failed together; those beyond are told as missing. */
const maxAlone = 200;

async function bringTogether(ctx: RoundContext, edges: readonly Edge[], commitsAtOnce: number): Promise<Set<Oid>> {
  const { objects } = ctx.mesh.store;
  const exchange = await ctx.remote.transport.open('git-upload-pack', { signal: ctx.signal });
  try {
    const wants = new Map<Oid, Oid>();
    for (const { machine, commit } of edges) {
      const tip = exchange.advertised.refs.get(branchRef(ctx.mesh.store.config.ref_prefix, machine));
      if (tip !== undefined && (await objects.has(tip))) wants.set(commit, tip);
    }
    if (wants.size === 0) return new Set();
    await installPart(objects, await fetchOlder(ctx, exchange, { edges, wants: [...wants.values()], commitsAtOnce }));
    return new Set(wants.keys());
  } finally {
    await exchange.close();
  }
}

async function fetchOlder(
  ctx: RoundContext,
  exchange: Exchange,
  { edges, wants, commitsAtOnce }: { edges: readonly Edge[]; wants: readonly Oid[]; commitsAtOnce: number },
): ReturnType<typeof fetchPart> {
  const machines = new Set(edges.map(({ machine }) => machine));
  const named = (await ctx.mesh.branches.edges()).filter(({ machine }) => machines.has(machine));
  const common = { wants, signal: ctx.signal, maxBytes: fetchLimits.maxPackBytes };
  // All of it once more is the one way to get the rest from a server that knows no parts.
  if (!offersDepth(exchange)) return fetchPart(exchange, { ...common, haves: [] });
  const commits = Math.max(1, Math.floor(commitsAtOnce / wants.length));
  const beyondEdges = offersDepth(exchange, { beyondEdges: true });
  return fetchPart(exchange, {
    ...common,
    // Branches share nothing, and a server walks whatever it is told of: no other's may be named.
    haves: wants,
    edges: named.map(({ commit }) => commit),
    deepen: beyondEdges ? { commits, beyondEdges } : { commits: infiniteDepth },
  });
}

/**
 * Moves the edges down as far as what is here passes the checks, and takes away those below which all does. What does not
 * pass stays outside of the history: its edge stands right above it. No network.
 */
export async function settleHistory(mesh: MeshContext): Promise<HistoryFetched & { stuck: Oid[] }> {
  const { store, branches } = mesh;
  const pins = await store.local.pins();
  const problems: Problem[] = [];
  const stuck: Oid[] = [];
  let fetched = 0;
  const found = await branches.edges();
  const newestOf = new Map<string, Edge>();
  for (const edge of found) {
    const newer = newestOf.get(edge.machine);
    if (newer === undefined || edge.older > newer.older) newestOf.set(edge.machine, edge);
  }
  for (const edge of newestOf.values()) {
    const pinned = edge.machine === branches.own ? store.signer.publicKey : pins.get(edge.machine);
    const keys = await keysBelow(mesh, edge, pinned);
    if (keys === null) continue;
    const lower = found.filter((other) => other.machine === edge.machine && other !== edge).map(({ commit }) => commit);
    const { good, end, reject } = await checkOlder(store.objects, { edge: edge.commit, edges: new Set(lower), keys });
    fetched += good;
    if (reject !== null) {
      problems.push(rejected(edge, reject.problem, reject.message));
      if (end !== null) stuck.push(end);
    }
    // Below what did not pass there is nothing to go on from.
    const gone = [edge.commit, ...(end === null || reject !== null ? lower : [])].filter((oid) => oid !== end);
    if (gone.length === 0) continue;
    await store.objects.moveEdges({ add: end === null ? [] : [end], remove: gone });
  }
  return { fetched, problems, stuck };
}

/**
 * The keys that must have signed what lies below an edge, by the branch that is accepted; of one that is not yet, by the
 * edge itself. Null where they cannot be told.
 */
async function keysBelow(
  { branches, store }: MeshContext,
  edge: Edge,
  pinned: string | undefined,
): Promise<SigningKeys | null> {
  const stated = await machineAt(store.objects, (await store.objects.commit(edge.commit)).tree);
  if (stated === null) return null;
  const branch = await branches.get(edge.machine);
  const chain = keysOf(branch?.machine ?? stated);
  if (branch === null && brokenLink(stated, verifyBytes) !== null) return null;
  if (!chain.includes(stated.key) || (pinned !== undefined && !chain.includes(pinned))) return null;
  return new SigningKeys(chain, stated.key);
}

/**
 * Brings what comes right before tips that rotate a key: at first sight such a tip is not accepted without it. False where
 * there is none.
 */
export async function bringBeforeRotations(ctx: RoundContext): Promise<boolean> {
  const { branches, store } = ctx.mesh;
  const edges: Edge[] = [];
  for (const edge of await branches.edges()) {
    const { message } = await store.objects.commit(edge.commit);
    const isTip = (await branches.get(edge.machine)) === null;
    if (isTip && parseCommitMessage(message)?.event === 'rotate-key') edges.push(edge);
  }
  if (edges.length === 0) return false;
  await bringOlder(ctx, edges, edges.length);
  await settleHistory(ctx.mesh);
  return true;
}

const rejected = ({ machine }: Edge, kind: string, message: string): Problem => ({
  kind,
  machine,
  message: `the older history of ${machine} is taken in only up to what does not pass: ${message}`,
  fix: `what is newer is whole and stays; ask whoever runs ${machine} what was committed there`,
});

function missing({ remote, mesh }: RoundContext, { machine, commit }: Edge, wasAsked: boolean): Problem {
  const ref = branchRef(mesh.store.config.ref_prefix, machine);
  return {
    kind: 'history_incomplete',
    machine,
    message: wasAsked
      ? `remote ${remote.name} has the branch of ${machine}, but gave nothing of it from before ${commit.slice(0, 10)}`
      : `remote ${remote.name} has no branch of ${machine} that this store knows`,
    fix: `get it from a repository that has all of it: git --git-dir ${mesh.store.dir} fetch --unshallow URL ${ref}`,
  };
}
