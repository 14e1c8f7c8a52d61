import { MeshError, branchRef, diffTree, isMeshFolder, keysOf } from '@git-mesh/core';
import type { Handle, MeshContext, Oid } from '@git-mesh/core';
import type { Wanted } from './fetch-objects.js';
import { Gate, acceptedKey } from './gate.js';
import type { ExchangeLimits } from './remote-context.js';
import type { Rejected } from './remote-fetch.js';
import { planAdvance, showsMachine, verifyCommits } from './verify.js';
import type { Reject } from './verify.js';

/** A branch with more entries than this is not taken in. */
const maxTreeEntries = 500_000;
/** Refs that are moved at once: their fsyncs go to the disk together. */
const refsAtOnce = 16;
/** Branches that are moved in one turn of the store lock. */
const movesATurn = 512;

export interface Accepted {
  rejected: Rejected[];
  /** True where the time or the number of commits ran out: what was accepted stays, the next round goes on from it. */
  unfinished: boolean;
}

/**
 * Checks other machines' branches and moves their accepted tips, a long one in steps of so many commits, oldest first:
 * each step is durable by itself.
 */
export async function acceptBranches(
  mesh: MeshContext,
  tips: readonly Wanted[],
  { limits, isOver }: { limits: ExchangeLimits; isOver: () => boolean },
): Promise<Accepted> {
  const accepting = new Accepting(mesh, limits, isOver, await mesh.store.local.pins());
  const rejected = new Map<Handle, Rejected>();
  let left = tips;
  for (;;) {
    const moved = accepting.moved;
    accepting.gate = new Gate(mesh, await mesh.branches.roster());
    const waiting: Wanted[] = [];
    for (const wanted of left) {
      if (accepting.isSpent) break;
      const { handle, oid } = wanted;
      const reject = await accepting.branch(handle, oid);
      rejected.delete(handle);
      if (reject === null) continue;
      rejected.set(handle, { handle, tip: oid, kind: reject.problem, message: reject.message });
      if (reject.problem === 'not_admitted' || reject.problem === 'revoked') waiting.push(wanted);
    }
    await accepting.flush();
    // A branch that was accepted may admit another, or take back that it was revoked.
    if (waiting.length === 0 || accepting.moved === moved || accepting.isSpent) break;
    left = waiting;
  }
  if (accepting.moved > 0) await pinUndisputed(mesh);
  return { rejected: [...rejected.values()], unfinished: accepting.isSpent };
}

/**
 * Pins the keys of machines that were seen for the first time, once all of a round is here: what other machines pinned
 * may be among it. A key that they know otherwise is not pinned, and the accepted tip's own binds.
 */
async function pinUndisputed(mesh: MeshContext): Promise<void> {
  const { branches, store } = mesh;
  const pins = await store.local.pins();
  const fresh = (await branches.allAccepted()).filter(({ handle }) => handle !== branches.own && !pins.has(handle));
  if (fresh.length === 0) return;
  const conflicts = await branches.conflicts();
  const undisputed = fresh.flatMap(({ handle, machine }) =>
    machine === null || conflicts.has(handle) ? [] : [[handle, machine.key] as const],
  );
  if (undisputed.length > 0) await store.withLock(() => store.local.pinAll(undisputed));
}

interface Move {
  /** Null at first sight. */
  expected: Oid | null;
  next: Oid;
  /** The keys that the machine has had by then, oldest first. */
  keys: readonly string[];
}

class Accepting {
  /** True once something was left over. */
  isSpent = false;
  /** Branches that were moved so far. */
  moved = 0;
  gate: Gate;
  readonly #mesh: MeshContext;
  readonly #limits: ExchangeLimits;
  readonly #isOver: () => boolean;
  readonly #pins: ReadonlyMap<Handle, string>;
  readonly #moves = new Map<Handle, Move>();
  #pending = 0;
  #checked = 0;

  constructor(mesh: MeshContext, limits: ExchangeLimits, isOver: () => boolean, pins: ReadonlyMap<Handle, string>) {
    this.#mesh = mesh;
    this.gate = new Gate(mesh, null);
    this.#limits = limits;
    this.#isOver = isOver;
    this.#pins = pins;
  }

  /** Null where the branch is merely behind, or was accepted as far as it came. */
  async branch(handle: Handle, tip: Oid): Promise<Reject | null> {
    const { config, objects, refs } = this.#mesh.store;
    const accepted = await refs.read(branchRef(config.ref_prefix, handle));
    if (accepted === tip) return null;
    const { to, beyond } = await this.gate.end(handle, { accepted, tip });
    if (to === null || to === accepted) return beyond;
    const pinned = this.#pins.get(handle) ?? (await acceptedKey(objects, accepted));
    const plan = await planAdvance({ objects, handle, mesh: config.mesh.id, accepted, to, pinned });
    if (plan.kind !== 'advance') return plan.kind === 'reject' ? plan : beyond;
    const { machine, commits } = plan;
    const chain = keysOf(machine);
    const shut = this.gate.shut(handle, machine);
    // What asks to be admitted must be signed by the key that it asks with.
    if (shut !== null) return (await verifyCommits(objects, commits.slice(-1))) ?? shut;
    let from = accepted;
    for (let at = 0; at < commits.length; at += this.#limits.commitsAtOnce) {
      // The first step of all is made in any case, or a slow fetch would leave no time for it in any round.
      if (this.#checked > 0 && (this.#isOver() || this.#checked >= this.#limits.commitsAFetch)) {
        this.isSpent = true;
        return null;
      }
      const step = commits.slice(at, at + this.#limits.commitsAtOnce);
      const next: Oid = step.at(-1)?.oid ?? to;
      const bad = await verifyCommits(objects, step);
      if (bad !== null) return bad;
      this.#checked += step.length;
      const keys = chain.slice(0, chain.indexOf(commits[at + step.length]?.key ?? machine.key) + 1);
      if (next !== to && !(await showsMachine(objects, next, { machine, keys }))) continue;
      const incomplete = await checkConnected(this.#mesh, from, next);
      if (incomplete !== null) return incomplete;
      await this.#move(handle, { expected: from, next, keys }, step.length);
      from = next;
    }
    return beyond;
  }

  async #move(handle: Handle, move: Move, commits: number): Promise<void> {
    const before = this.#moves.get(handle);
    this.#moves.set(handle, before === undefined ? move : { ...move, expected: before.expected });
    this.#pending += commits;
    if (this.#pending >= this.#limits.commitsAtOnce || this.#moves.size >= movesATurn) await this.flush();
  }

  async flush(): Promise<void> {
    if (this.#moves.size === 0) return;
    const { config, local, refs } = this.#mesh.store;
    const moves = [...this.#moves];
    this.moved += moves.length;
    this.#moves.clear();
    this.#pending = 0;
    await this.#mesh.store.withLock(async () => {
      const due: [Handle, Move][] = [];
      for (const [handle, move] of moves) {
        // Another process may have come first with the same or a later tip: then this one is looked at again next time.
        if ((await refs.read(branchRef(config.ref_prefix, handle))) === move.expected) due.push([handle, move]);
      }
      const pins = await local.pins();
      // At first sight under `open`, others' pins are waited for: see pinUndisputed. Do not reorder: else no branch is
      // accepted before its key is pinned, and a pin follows a rotation that was accepted.
      const first = due.filter(
        ([handle, { keys }]) =>
          !keys.includes(pins.get(handle) ?? '') && (config.policy === 'roster' || pins.has(handle)),
      );
      await local.pinAll(first.map(([handle, { keys }]) => [handle, keys.at(-1) ?? ''] as const));
      await inGroups(due, refsAtOnce, async ([handle, { expected, next }]) => {
        await refs.update(branchRef(config.ref_prefix, handle), { expected, next });
      });
      await local.followKeys(due.map(([handle, { keys }]) => [handle, keys] as const));
    });
  }
}

/** All of a group end before a failure is thrown: nothing goes on outside of the lock. */
export async function inGroups<T>(items: readonly T[], size: number, work: (item: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < items.length; at += size) {
    for (const result of await Promise.allSettled(items.slice(at, at + size).map(work))) {
      if (result.status === 'rejected') throw result.reason;
    }
  }
}

/** All that the new tip shows is here: a server that left objects out must not become our reader's problem. */
async function checkConnected(mesh: MeshContext, accepted: Oid | null, to: Oid): Promise<Reject | null> {
  const { objects } = mesh.store;
  try {
    const from = accepted === null ? null : (await objects.commit(accepted)).tree;
    const changes = diffTree({
      from,
      to: (await objects.commit(to)).tree,
      readTree: (oid) => objects.tree(oid),
      maxEntries: maxTreeEntries,
      descend: (path) => path === '' || isMeshFolder(path),
    });
    for await (const { path, mode, after } of changes) {
      if (after === null || mode !== '100644' || (await objects.has(after))) continue;
      return { kind: 'reject', problem: 'unreadable', message: `${path} is missing from what was fetched` };
    }
    return null;
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    return { kind: 'reject', problem: 'unreadable', message: `its files cannot be read: ${error.message}` };
  }
}
