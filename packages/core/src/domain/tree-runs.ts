/**
 * Where two tree objects differ: what is left of each without the whole entries that both begin and end with. A commit
 * changes one entry of a folder of a thousand, and decoding the others is most of what it would cost to look at it.
 */
export function differingRuns(before: Uint8Array, after: Uint8Array): { before: Uint8Array; after: Uint8Array } {
  const start = sharedEntries(before, after);
  const starts = entryStarts(before, start);
  let same = 0;
  const most = Math.min(before.length, after.length) - start;
  while (same < most && before[before.length - 1 - same] === after[after.length - 1 - same]) same += 1;
  // Only where both cut at the beginning of an entry is the rest the same entries.
  const tails = new Set(starts.map((at) => before.length - at));
  let tail = 0;
  for (const at of entryStarts(after, start)) {
    const length = after.length - at;
    if (length <= same && tails.has(length)) tail = Math.max(tail, length);
  }
  return {
    before: before.subarray(start, before.length - tail),
    after: after.subarray(start, after.length - tail),
  };
}

/** The bytes of the whole entries that both begin with. */
function sharedEntries(before: Uint8Array, after: Uint8Array): number {
  const most = Math.min(before.length, after.length);
  let same = 0;
  while (same < most && before[same] === after[same]) same += 1;
  let at = 0;
  for (let next = entryEnd(after, at); next !== null && next <= same; next = entryEnd(after, at)) at = next;
  return at;
}

function entryStarts(tree: Uint8Array, from: number): number[] {
  const starts: number[] = [];
  for (let at: number | null = from; at !== null && at < tree.length; at = entryEnd(tree, at)) starts.push(at);
  return starts;
}

/** Mode, space, name, NUL and the 20 bytes of an id; null where none begins or it is cut. */
function entryEnd(tree: Uint8Array, at: number): number | null {
  const nul = tree.indexOf(0, at);
  return nul === -1 || nul + 21 > tree.length ? null : nul + 21;
}
