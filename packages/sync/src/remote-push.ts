import { setTimeout as sleep } from 'node:timers/promises';
import { MeshError, charterRef, commitsBetween, seqOf, toIso } from '@git-mesh/core';
import type { Oid, RefName } from '@git-mesh/core';
import { charterHandle } from './charter-check.js';
import { removeLeftLock, withLocks } from './left-lock.js';
import { newObjects, newObjectsWithBases } from './new-objects.js';
import { learntOf, limitsOf } from './remote-context.js';
import type { RoundContext } from './remote-context.js';
import type { Fetched } from './remote-fetch.js';
import { pushRefs } from './transport/push.js';
import type { PushedRef, RefUpdate } from './transport/push.js';

export interface Pushed {
  /** True where more is to be pushed than the time allowed: another round goes on, and need not wait. */
  unfinished: boolean;
}

/**
 * Pushes the own branch where the remote has less of it: exactly the objects that are new there, with the tip we saw as
 * the lease. A long queue goes in several pushes, oldest first, so that a cut leaves what arrived. A remote that was
 * emptied gets the charter first. Never forces.
 *
 * @throws MeshError `push_refused` with the remote's words.
 */
export async function pushTo(ctx: RoundContext, fetched: Fetched): Promise<Pushed> {
  const { mesh } = ctx;
  const { branch: ref, config, objects, refs } = mesh.store;
  const isBlocked = fetched.rejected.some(({ handle, kind }) =>
    handle !== config.handle ? handle === charterHandle && kind === 'ref_blocked' : kind === 'ref_blocked',
  );
  if (!fetched.hasCharter && !isBlocked) await pushCharter(ctx, fetched);
  if (fetched.rejected.some(({ handle }) => handle === config.handle)) return { unfinished: false };
  let base = fetched.ownThere;
  for (let looks = 1; ; looks++) {
    const own = await refs.read(ref);
    if (own === null) return { unfinished: false };
    if (base === own) {
      await notePushed(ctx, own);
      // Before it is in the way.
      await removeLeftLock(mesh.store, ctx.remote, ctx.logger);
      return { unfinished: false };
    }
    const commits = base !== null && !(await objects.has(base)) ? null : await commitsBetween(objects, base, own);
    if (commits === null) return { unfinished: false };
    const pushed = await pushCommits(ctx, base, commits);
    if (!('moved' in pushed)) return pushed;
    // Another process of this store pushes too: what it brought there is what the rest goes on from.
    if (looks >= maxLooks) return { unfinished: true };
    base = pushed.moved;
  }
}

/** How often a push begins anew because the branch moved there meanwhile. */
const maxLooks = 5;

/** The remote's tip is another than the one that was seen. */
interface Moved {
  moved: Oid | null;
}

async function pushCommits(ctx: RoundContext, base: Oid | null, commits: readonly Oid[]): Promise<Pushed | Moved> {
  const { pace } = learntOf(ctx.remote);
  const overAt = performance.now() + limitsOf(ctx.remote).pushMs;
  let there = base;
  for (let at = 0; at < commits.length;) {
    if (at > 0 && (ctx.signal.aborted || performance.now() >= overAt)) return { unfinished: true };
    const next = commits[Math.min(at + pace.commits, commits.length) - 1];
    if (next === undefined) break;
    const count = Math.min(pace.commits, commits.length - at);
    const began = performance.now();
    try {
      const moved = await pushStep(ctx, there, next);
      if (moved !== null) return moved;
    } catch (error) {
      if (!(error instanceof MeshError) || error.errorName !== 'deadline') throw error;
      pace.cut();
      // What arrived before is there: a remote that takes a part of a long queue each round has not failed.
      if (at > 0) return { unfinished: true };
      throw error;
    }
    await notePushed(ctx, next);
    // The first ones of a short queue tell nothing about a long one.
    if (count >= pace.commits) pace.took(performance.now() - began);
    there = next;
    at += count;
  }
  return { unfinished: false };
}

/** Null once the remote has `next`. Only the tip that was seen is replaced. */
async function pushStep(ctx: RoundContext, there: Oid | null, next: Oid): Promise<Moved | null> {
  const { mesh, remote, signal } = ctx;
  const { branch: ref, objects } = mesh.store;
  const { oids, bases } = await newObjectsWithBases(objects, there, next);
  const pack = await objects.pack(oids, bases);
  for (let tries = 1; ; tries++) {
    const exchange = await remote.transport.open('git-receive-pack', { signal });
    let results: readonly PushedRef[];
    try {
      // It may have been moved by another process of ours.
      const now = exchange.advertised.refs.get(ref) ?? null;
      if (now === next) return null;
      if (now !== there) return { moved: now };
      const update: RefUpdate = { ref, expected: there, next };
      results = await pushRefs(exchange, { updates: [update], pack, atomic: false, signal });
    } finally {
      await exchange.close();
    }
    // A ref that moved or was locked between the two: no refusal, and the next look tells which.
    if (!results.some(({ ok, reason }) => !ok && lostRace(reason ?? ''))) {
      requireAccepted(results, remote.name);
      return null;
    }
    if ((await removeLeftLock(mesh.store, remote, ctx.logger)) && tries <= maxTries) continue;
    if (tries >= maxTries) {
      requireAccepted(await withLocks(results, remote.transport, ref), remote.name);
      return null;
    }
    await sleep(lockWaitMs * tries * (0.5 + Math.random()));
  }
}

const maxTries = 5;
const lockWaitMs = 60;

/** git's words where the ref was not what we saw, or another push had it locked; a hook's own words never begin so. */
function lostRace(reason: string): boolean {
  return /^(?:failed to update ref|cannot lock ref|failed to lock|failed to write|stale info|fetch first)/.test(reason);
}

async function pushCharter(ctx: RoundContext, fetched: Fetched): Promise<void> {
  const { mesh, remote, signal } = ctx;
  const { config, objects, refs } = mesh.store;
  const ref = charterRef(config.ref_prefix);
  const charter = await refs.read(ref);
  if (charter === null) return;
  const updates: RefUpdate[] = [{ ref, expected: null, next: charter }];
  // A plain `git clone` of a repository that is a mesh and nothing else shows what it is.
  if (fetched.empty) updates.push({ ref: 'refs/heads/main' as RefName, expected: null, next: charter });
  const exchange = await remote.transport.open('git-receive-pack', { signal });
  try {
    const pack = await objects.pack(await newObjects(objects, null, charter));
    const results = await pushRefs(exchange, { updates, pack, atomic: true, signal });
    requireAccepted(await withLocks(results, remote.transport, mesh.store.branch), remote.name);
  } finally {
    await exchange.close();
  }
}

async function notePushed(ctx: RoundContext, commit: Oid): Promise<void> {
  const { store, clock } = ctx.mesh;
  const seq = seqOf(await store.objects.commit(commit)) ?? 0;
  const known = (await store.journal.view()).pushed.findLast(({ remote }) => remote === ctx.remote.name);
  if (known !== undefined && known.seq >= seq) return;
  await store.withLock(() =>
    store.journal.append([{ kind: 'pushed', remote: ctx.remote.name, commit, seq, at: toIso(clock.now()) }], {
      durable: false,
    }),
  );
}

/** @throws MeshError `push_refused` */
export function requireAccepted(results: readonly PushedRef[], remote: string): void {
  const refused = results.find(({ ok }) => !ok);
  if (refused === undefined) return;
  throw new MeshError(
    'push_refused',
    `Remote ${remote} refused ${refused.ref}: ${refused.reason ?? 'no reason given'}. ` +
      'What was sent is stored here and is pushed again later; git-mesh status says what to do.',
  );
}
