import type { Node } from 'jsonc-parser';
import type { JsonEntry } from './clients.js';
import { placesOf } from './json-file.js';
import { contentOf, endOf, itemsOf, readTree, valueOf, wayOf } from './json-tree.js';

/**
 * What a file holds that is not ours: its content and its comments, in order. Two texts of which it is the same differ by
 * our entries, by empty objects and lists where those stand, and by layout.
 */
export function othersOf(text: string, entries: readonly JsonEntry[]): string {
  const [{ file } = { file: '' }] = entries;
  const tree = readTree(text, file);
  if (tree === null) return othersOf('{}', entries);
  const ours = entries.flatMap((entry) => placesOf(tree, entry));
  const skipped = new Set(ours.flatMap((place) => place.slice(-1)));
  const holders = new Set<Node>([
    ...ours.flatMap((place) => place.slice(0, -1)),
    ...entries.flatMap((entry) => wayOf(tree, entry.path)),
  ]);
  // Innermost first: a holder of nothing but empty holders is one too.
  for (const holder of [...holders].sort((a, b) => b.offset - a.offset)) {
    const { type } = valueOf(holder);
    const isEmpty = itemsOf(valueOf(holder)).every((item) => skipped.has(item));
    if ((type === 'object' || type === 'array') && isEmpty) skipped.add(holder);
  }
  // What stands inside ours goes with it.
  const comments = tree.comments
    .filter(
      ({ start }) => !ours.some((place) => place.slice(-1).some((item) => start > item.offset && start < endOf(item))),
    )
    .map(({ start, end }) => text.slice(start, end));
  return JSON.stringify([contentOf(tree.root, skipped), comments]);
}

/** The same for a file that began with `preset`. */
export function presetOthers(entries: readonly JsonEntry[]): string {
  const preset = Object.assign({}, ...entries.map((entry) => (entry.kind === 'hook' ? entry.preset : {}))) as object;
  return othersOf(JSON.stringify(preset), entries);
}
