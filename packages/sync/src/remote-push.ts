import { MeshError, charterRef, isAncestor, toIso } from '@git-mesh/core';
import type { Oid, RefName } from '@git-mesh/core';
import { newObjects } from './new-objects.js';
import type { RoundContext } from './remote-context.js';
import type { Fetched } from './remote-fetch.js';
import { pushRefs } from './transport/push.js';
import type { PushedRef, RefUpdate } from './transport/push.js';

/**
 * Pushes the own branch where the remote has less of it: exactly the objects that are new there, with the tip we saw as
 * the lease. A remote that was emptied gets the charter first. Never forces.
 *
 * @throws MeshError `push_refused` with the remote's words.
 */
export async function pushTo(ctx: RoundContext, fetched: Fetched): Promise<void> {
  const { mesh, remote, signal } = ctx;
  const { branch: ref, config, objects, refs } = mesh.store;
  if (!fetched.hasCharter) await pushCharter(ctx, fetched);
  const own = await refs.read(ref);
  if (own === null) return;
  if (fetched.ownThere !== own) {
    if (fetched.rejected.some(({ handle }) => handle === config.handle)) return;
    const base = fetched.ownThere;
    if (base !== null && !(await isAncestor(objects, base, own))) return;
    const exchange = await remote.transport.open('git-receive-pack', { signal });
    try {
      // The tip may have moved since it was fetched, by another process of ours: only what we saw is replaced.
      const there = exchange.advertised.refs.get(ref) ?? null;
      if (there !== own) {
        if (there !== base) return;
        const pack = await objects.pack(await newObjects(objects, base, own));
        const update: RefUpdate = { ref, expected: base, next: own };
        requireAccepted(await pushRefs(exchange, { updates: [update], pack, atomic: false, signal }), remote.name);
      }
    } finally {
      await exchange.close();
    }
  }
  await notePushed(ctx, own);
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
    requireAccepted(await pushRefs(exchange, { updates, pack, atomic: true, signal }), remote.name);
  } finally {
    await exchange.close();
  }
}

async function notePushed(ctx: RoundContext, own: Oid): Promise<void> {
  const { store, clock } = ctx.mesh;
  const branch = await ctx.mesh.branches.ownBranch();
  if (branch.tip !== own) return;
  const known = (await store.journal.view()).pushed.findLast(({ remote }) => remote === ctx.remote.name);
  if (known !== undefined && known.seq >= branch.seq) return;
  await store.withLock(() =>
    store.journal.append(
      [{ kind: 'pushed', remote: ctx.remote.name, commit: own, seq: branch.seq, at: toIso(clock.now()) }],
      { durable: false },
    ),
  );
}

/** @throws MeshError `push_refused` */
function requireAccepted(results: readonly PushedRef[], remote: string): void {
  const refused = results.find(({ ok }) => !ok);
  if (refused === undefined) return;
  throw new MeshError(
    'push_refused',
    `Remote ${remote} refused ${refused.ref}: ${refused.reason ?? 'no reason given'}. ` +
      'What was sent is stored here and is pushed again later; ask whoever runs the repository for the right to push this branch.',
  );
}
