import { expect, it } from 'vitest';
import { examineScattered } from './examine-scattered.js';

const found = (joinable: number, loose: number): string[] =>
  examineScattered({ joinable, loose }).map(({ message, fix }) => `${message}: ${fix ?? ''}`);

it('says nothing of the packs and loose objects that any store has, or that somebody else looks after', () => {
  expect(found(999, 9_999)).toEqual([]);
});

it('names very many packs or loose objects, and what joins them', () => {
  expect(found(1_000, 0)).toEqual([expect.stringMatching(/in 1000 packs and 0 files.*: git mesh maintain /)]);
  expect(found(0, 10_000)).toHaveLength(1);
});
