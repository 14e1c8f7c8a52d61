import type { Problem } from '../domain/results.js';
import type { Footprint } from '../store/footprint.js';

/** Commits and fetches keep their packs below 50: more came from elsewhere. A cold read is 8 times slower at 2,000. */
const manyPacks = 1_000;
/** git's own maintenance begins at 6,700. */
const manyLoose = 10_000;

/** Very many files of objects, which make every command slow. */
export function examineScattered({ joinable, loose }: Pick<Footprint, 'joinable' | 'loose'>): Problem[] {
  if (joinable < manyPacks && loose < manyLoose) return [];
  return [
    {
      kind: 'objects_scattered',
      path: 'objects',
      message: `the store's objects are in ${joinable} packs and ${loose} files of their own, which makes commands slow`,
      fix: 'git mesh maintain joins them; a worker (an MCP server, git mesh sync --watch) does so bit by bit',
    },
  ];
}
