import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Store, isOid, silentLogger } from '@git-mesh/core';
import type { Oid } from '@git-mesh/core';
import { verifyAdvance } from '@git-mesh/sync/testing';
import { stockGit } from '../stock-git.js';
import { makeHistory, send } from './history.js';
import type { Resident } from './resident.js';
import { median, timed } from './measure.js';

const commits = 5_000;
/** git starts two processes for each. */
const commitsOfGit = 200;

export interface VerifyFigures {
  commits: number;
  /** Commits a second, each time with nothing in memory. */
  ours: number;
  /** The same with all of a round: fetched, checked, journaled, receipts stated and pushed. */
  round: number;
  git: number;
}

/** How many commits of another machine are checked in a second, beside `git verify-commit` of the same ones. */
export async function measureVerify(root: string, runs: number): Promise<VerifyFigures> {
  const machines = await makeHistory(root, 1, () => undefined);
  const { studio, laptop } = machines;
  await studio.mesh.syncNow();
  await laptop.mesh.syncNow();
  const accepted = tipOf(laptop);
  for (let n = 0; n < commits; n++) await send(studio, 'laptop', n);
  await studio.mesh.syncNow();
  const roundMs = await timed(() => laptop.mesh.syncNow());
  const to = tipOf(laptop);
  await machines.close();

  const ours: number[] = [];
  const git: number[] = [];
  const allowed = join(root, 'allowed');
  for (let n = 0; n < runs; n++) {
    const deps = { clock: { now: () => Date.now() }, random: randomBytes, logger: silentLogger };
    const { config, local, objects } = await Store.open(laptop.store, deps);
    const pinned = new Map<string, string>(await local.pins()).get(studio.handle) ?? null;
    writeFileSync(allowed, `${studio.handle}@mesh.invalid namespaces="git" ${pinned ?? ''}\n`);
    const handle = (await Store.open(studio.store, deps)).config.handle;
    const wanted = { objects, handle, mesh: config.mesh.id, accepted, to, pinned };
    ours.push(
      await timed(async () => {
        const { kind } = await verifyAdvance(wanted);
        if (kind !== 'advance') throw new Error(`the commits do not pass: ${kind}`);
      }),
    );
    const some = stockGit(['-C', laptop.store, 'rev-list', `-${commitsOfGit}`, to]).split('\n');
    const args = ['-C', laptop.store, '-c', `gpg.ssh.allowedSignersFile=${allowed}`, 'verify-commit', ...some];
    git.push(await timed(() => stockGit(args)));
  }
  const perSecond = (count: number, ms: number): number => Math.round((count / ms) * 1000);
  return {
    commits,
    ours: perSecond(commits, median(ours)),
    round: perSecond(commits, roundMs),
    git: perSecond(commitsOfGit, median(git)),
  };
}

function tipOf(reader: Resident): Oid {
  const tip = stockGit(['-C', reader.store, 'rev-parse', 'refs/heads/mesh/studio']);
  if (!isOid(tip)) throw new Error(`git printed no object id: ${tip}`);
  return tip;
}

export function verifyTable({ commits: count, ours, round, git }: VerifyFigures): string {
  return [
    `| of ${count} commits                        | commits a second |`,
    '| -------------------------------------- | ---------------: |',
    `| signatures, counters and parents checked | ${ours} |`,
    `| in a whole round                       | ${round} |`,
    `| git verify-commit                      | ${git} |`,
    '',
  ].join('\n');
}
