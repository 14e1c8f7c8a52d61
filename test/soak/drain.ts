import { stockGit } from '../stock-git.js';
import { now } from './answer.js';
import type { Ledger } from './ledger.js';
import type { SoakMachine } from './machine.js';
import type { SoakRemote } from './remote.js';

export interface DrainOptions {
  ledger: Ledger;
  machines: SoakMachine[];
  remote: SoakRemote;
  /** Milliseconds after which it is given up. */
  limitMs: number;
}

/**
 * Has all machines synchronise until nothing moves any more: every store and the remote have the same branches, twice in
 * a row. What keeps them from it within the time is a finding.
 */
export async function drain({ ledger, machines, remote, limitMs }: DrainOptions): Promise<void> {
  const until = now() + limitMs;
  let before = '';
  for (;;) {
    const answers = await inTurns(machines, 3, ({ commands }) => commands.run(['sync']));
    const there = branchesOf(remote.path);
    const different = machines.filter((machine) => machine.branches() !== there).map(({ handle }) => handle);
    if (different.length === 0 && there === before) return;
    before = there;
    if (now() < until) continue;
    const words = answers.map((answer, index) => {
      const said = answer.outcome === 'accepted' ? JSON.stringify(answer.value) : (answer.error ?? '');
      return `${machines[index]?.handle ?? ''}: ${said}`;
    });
    ledger.faults.push({
      kind: 'not quiet',
      text: `after ${limitMs} ms ${different.join(', ') || 'no machine'} differ from the remote; ${words.join('; ')}`,
    });
    return;
  }
}

const branchesOf = (repository: string): string =>
  stockGit(['--git-dir', repository, 'for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads/mesh/']);

/** `work` for each of the list, at most so many at once; the results in the list's order. */
export async function inTurns<T, R>(list: readonly T[], most: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const one = async (): Promise<void> => {
    for (let at = next++; at < list.length; at = next++) results[at] = await work(list[at] as T);
  };
  await Promise.all(Array.from({ length: most }, one));
  return results;
}
