import { expect, it } from 'vitest';
import { examineScattered } from './examine-scattered.js';

const found = (joinable: number, loose: number): Promise<string[]> =>
  examineScattered({
    footprint: () => Promise.resolve({ packs: 5_000, joinable, loose, bytes: 0 }),
  }).then((problems) => problems.map(({ message, fix }) => `${message}: ${fix ?? ''}`));

it('says nothing of the packs and loose objects that any store has, or that somebody else looks after', async () => {
  expect(await found(999, 9_999)).toEqual([]);
});

it('names very many packs or loose objects, and what joins them', async () => {
  expect(await found(1_000, 0)).toEqual([expect.stringMatching(/in 1000 packs and 0 files.*: git mesh maintain /)]);
  expect(await found(0, 10_000)).toHaveLength(1);
});
