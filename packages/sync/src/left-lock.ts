import { toIso } from '@git-mesh/core';
import type { Logger, RefName, Store } from '@git-mesh/core';
import type { LockThere, Transport } from './transport/port.js';
import type { PushedRef } from './transport/push.js';

interface NamedRemote {
  name: string;
  transport: Transport;
}

/**
 * Removes the lock that a killed git left on the own branch in a local remote, before or after a push.
 * True where one was removed: a push that was refused can be made again. Nobody else writes that branch, so nobody else would ever do
 * it; the branches of others, the charter and all else are theirs to mend, and only named.
 */
export async function removeLeftLock(store: Store, remote: NamedRemote, logger: Logger): Promise<boolean> {
  const { locks } = remote.transport;
  const { branch } = store;
  const lock = (await locks?.on(branch)) ?? null;
  if (locks === undefined || lock?.isLeft !== true) return false;
  // Under the store lock, which every process of this machine's takes for it: what is removed is what was looked at. The
  // repository answered a moment ago, so that a share which hangs is unlikely to keep the lock.
  const removed = await store.withLock(() => locks.remove(branch));
  if (removed) {
    logger.info(
      `remote ${remote.name}: removed ${lock.path}, which a git process that was killed left there at ${toIso(Math.round(lock.madeAt))}`,
    );
  }
  return removed;
}

/**
 * The results of a push to a local remote, with what to do about a lock that is in the way of a refused ref. `own` is
 * the one that a round frees by itself.
 */
export async function withLocks(
  results: readonly PushedRef[],
  transport: Transport,
  own: RefName,
): Promise<readonly PushedRef[]> {
  const { locks } = transport;
  if (locks === undefined) return results;
  return Promise.all(
    results.map(async (result) => {
      const lock = result.ok ? null : await locks.on(result.ref);
      if (lock === null) return result;
      const advice = wayOut(lock, { freedByItself: result.ref === own });
      // What else git said is of the same lock, at length and with its path.
      const said = result.reason?.split(' (')[0] ?? 'refused';
      return { ...result, reason: `${said} (${advice})` };
    }),
  );
}

function wayOut({ path, madeAt, freeAt, isLeft }: LockThere, { freedByItself }: { freedByItself: boolean }): string {
  const found = `${path} is in the way there since ${toIso(Math.round(madeAt))}, of a git process that is at work or was killed`;
  const byHand = 'where no git works on that repository, remove it by hand';
  if (!freedByItself || freeAt === null || isLeft) return `${found}; ${byHand}`;
  return `${found}; the first push after ${toIso(Math.round(freeAt))} removes it. Sooner: ${byHand}`;
}
