import { expect, test } from 'vitest';
import { property, assert, array, constantFrom, uint8Array, record } from 'fast-check';
import { decodeTree, encodeTree } from './git-tree.js';
import type { TreeEntry } from './git-object.js';
import type { Oid } from './ids.js';
import { differingRuns } from './tree-runs.js';

// Few ids and names with bytes that look like the parts of an entry, so that trees overlap in every way.
const entry = record({
  name: constantFrom('a', 'a.b', 'a0', 'b', 'c', '100644 x', 'zz'),
  mode: constantFrom('100644', '40000'),
  oid: constantFrom('00'.repeat(20), '31'.repeat(20), '3130303634342061003030303030303030303030', 'ff'.repeat(20)),
});
const tree = array(entry, { maxLength: 8 }).map((entries) => {
  const unique = new Map(entries.map((one) => [one.name, { ...one, oid: one.oid as Oid }]));
  return encodeTree([...unique.values()]);
});
const text = ({ mode, name, oid }: TreeEntry): string => `${mode} ${name} ${oid}`;

test('what differs between two trees holds every entry that one has and the other has not', () => {
  assert(
    property(tree, tree, (before, after) => {
      const runs = differingRuns(before, after);
      const [old, fresh] = [before, after].map((bytes) => new Set(decodeTree(bytes).map(text)));
      const shown = decodeTree(runs.after).map(text);
      const gone = decodeTree(runs.before).map(text);
      expect(shown).toEqual(expect.arrayContaining([...(fresh ?? [])].filter((one) => old?.has(one) !== true)));
      expect(gone).toEqual(expect.arrayContaining([...(old ?? [])].filter((one) => fresh?.has(one) !== true)));
    }),
    { numRuns: 2_000 },
  );
});

test('one entry more in a thousand is all that is looked at', () => {
  const entries = Array.from({ length: 1_000 }, (_, n) => ({
    mode: '100644',
    name: `file-${n}`,
    oid: n.toString(16).padStart(40, '0') as Oid,
  }));
  const added: TreeEntry = { mode: '100644', name: 'file-5x', oid: 'ab'.repeat(20) as Oid };
  const runs = differingRuns(encodeTree(entries), encodeTree([...entries, added]));
  expect(decodeTree(runs.after)).toEqual([added]);
  expect(runs.before.length).toBe(0);
});

test('bytes that are no tree are no trouble here', () => {
  assert(
    property(uint8Array(), uint8Array(), (before, after) => {
      const runs = differingRuns(before, after);
      expect(runs.after.length).toBeLessThanOrEqual(after.length);
    }),
  );
});
