import { join } from 'node:path';
import { stockGit } from '../stock-git.js';
import { Clone } from './clone.js';
import { send, type TwoMachines } from './history.js';
import { type Comparison, timed } from './measure.js';

interface Options {
  root: string;
  history: number;
  runs: number;
}

/** Two clones of a copy of the remote, one a machine. */
function clones({ remote }: TwoMachines, { root }: Options, name: string): { studio: Clone; laptop: Clone } {
  const copy = join(root, `${name}.git`);
  stockGit(['clone', '-q', '--mirror', '--no-local', remote, copy]);
  stockGit(['config', 'gc.auto', '0'], { cwd: copy });
  stockGit(['config', 'receive.autogc', 'false'], { cwd: copy });
  const [studio, laptop] = ['studio', 'laptop'].map(
    (handle) => new Clone(copy, join(root, `${name}-${handle}`), handle),
  );
  if (studio === undefined || laptop === undefined) throw new Error('two clones were made');
  return { studio, laptop };
}

/** One round with one new message each way against `git fetch` and `git push` that do the same. */
export async function measureRound(machines: TwoMachines, options: Options): Promise<Comparison> {
  const { studio, laptop } = machines;
  const git = clones(machines, options, 'round');
  const comparison: Comparison = { name: 'round', history: options.history, ours: [], git: [], aim: 1 };
  for (let n = -2; n < options.runs; n++) {
    // laptop takes in what came before and then has one new message on the remote; studio has one queued.
    await laptop.mesh.syncNow();
    await send(laptop, 'studio', n);
    await laptop.mesh.syncNow();
    await send(studio, 'laptop', n);
    const own = await timed(async () => {
      const sync = await studio.mesh.syncNow();
      if (sync.state !== 'ok' || sync.queued !== 0) throw new Error(`the round failed: ${JSON.stringify(sync)}`);
    });
    for (const clone of [git.laptop, git.studio]) {
      const file = `messages/bench/2026-12-02/0000/${n}.yaml`;
      clone.write(file, `n: ${n}\n`);
      clone.commit(file);
    }
    git.laptop.git(['push', '-q', 'origin', git.laptop.branch]);
    const theirs = await timed(() => {
      git.studio.git(['fetch', '-q', 'origin']);
      git.studio.git(['push', '-q', 'origin', git.studio.branch]);
    });
    if (n < 0) continue;
    comparison.ours.push(own);
    comparison.git.push(theirs);
  }
  return comparison;
}

/** A round with nothing to do against a `git fetch` with nothing to do. */
export async function measureNoop(machines: TwoMachines, options: Options): Promise<Comparison> {
  const { studio, laptop } = machines;
  const git = clones(machines, options, 'noop');
  const comparison: Comparison = { name: 'no-op round', history: options.history, ours: [], git: [], aim: 1 };
  for (const resident of [laptop, studio, laptop, studio]) await resident.mesh.syncNow();
  for (let n = -2; n < options.runs; n++) {
    const own = await timed(() => studio.mesh.syncNow());
    const theirs = await timed(() => {
      git.studio.git(['fetch', '-q', 'origin']);
    });
    if (n < 0) continue;
    comparison.ours.push(own);
    comparison.git.push(theirs);
  }
  return comparison;
}
