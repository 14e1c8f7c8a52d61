import { join } from 'node:path';
import { Clone, newestMessage } from './clone.js';
import { send, type TwoMachines } from './history.js';
import { type Comparison, timed } from './measure.js';

/** One durable send against `git add` and `git commit` of the same file in a clone of the same repository. */
export async function measureSend(
  { studio }: TwoMachines,
  { root, history, runs }: { root: string; history: number; runs: number },
): Promise<Comparison> {
  const clone = new Clone(studio.store, join(root, 'clone-send'), studio.handle);
  const ours: number[] = [];
  const git: number[] = [];
  for (let n = -3; n < runs; n++) {
    let id = '';
    const own = await timed(async () => (id = await send(studio, 'laptop', n)));
    const { file, body } = newestMessage(studio.store, studio.handle, id);
    clone.write(file, body);
    const theirs = await timed(() => {
      clone.commit(file);
    });
    // The first ones warm both sides up.
    if (n < 0) continue;
    ours.push(own);
    git.push(theirs);
  }
  return { name: 'send', history, ours, git, aim: 0.5 };
}
