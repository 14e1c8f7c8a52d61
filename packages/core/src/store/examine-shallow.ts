import { join } from 'node:path';
import { isOid } from '../domain/ids.js';
import type { Problem } from '../domain/results.js';
import { readIfThere } from './durable-fs.js';
import type { Fs } from './fs.js';

/**
 * A line of git's `shallow` file that names no commit: git then reads nothing at all of the repository, while git-mesh
 * goes on without that line.
 */
export async function examineShallow(fs: Fs, dir: string): Promise<Problem[]> {
  const text = Buffer.from((await readIfThere(fs, join(dir, 'shallow'))) ?? []).toString('latin1');
  const bad = text.split('\n').flatMap((line, index, all) => {
    const isEnd = index === all.length - 1 && line === '';
    return isEnd || isOid(line) ? [] : [index + 1];
  });
  if (bad.length === 0) return [];
  const which =
    bad.length === 1 ? `line ${String(bad[0])} of shallow names` : `lines ${bad.join(', ')} of shallow name`;
  return [
    {
      kind: 'shallow_damaged',
      path: 'shallow',
      message: `${which} no commit: git refuses to read this store (bad shallow line), and where older history ends there it looks damaged`,
      fix: 'remove what is no commit id (40 of 0-9 and a-f, one a line) from the file shallow in the store’s folder; where history then is missing, git mesh sync --history fetches it',
    },
  ];
}
