import { isDeepStrictEqual } from 'node:util';
import { MeshError } from '@git-mesh/core';
import type { Entry, JsonEntry } from './clients.js';
import { addEntry, placesOf, removeEntry } from './json-file.js';
import { othersOf, presetOthers } from './json-proof.js';
import { readTree } from './json-tree.js';
import { addTable, hasTable, othersIn, removeTable } from './toml-file.js';

/** A file as it is and as it is to be; null where it is not there. */
export interface FileChange {
  path: string;
  before: string | null;
  after: string | null;
}

/** Some editors begin a file with it; no part of what is in it. */
const byteOrderMark = '\uFEFF';

/**
 * What the files of a client become. `read` gives a file's text, null where there is none.
 * @throws MeshError where a file cannot be edited, or the edit would not leave exactly what was there besides ours;
 *   nothing was written.
 */
export async function planSetup(
  entries: readonly Entry[],
  { isRemoval, read }: { isRemoval: boolean; read: (path: string) => Promise<string | null> },
): Promise<FileChange[]> {
  const changes: FileChange[] = [];
  for (const path of new Set(entries.map(({ file }) => file))) {
    const whole = await read(path);
    const mark = whole?.startsWith(byteOrderMark) === true ? byteOrderMark : '';
    const before = whole?.slice(mark.length) ?? null;
    const own = entries.filter(({ file }) => file === path);
    // What was put in last goes first: so each finds what it left.
    const after = (isRemoval ? own.toReversed() : own).reduce<string | null>(
      (text, entry) => (isRemoval ? removed(text, entry) : added(text, entry)),
      before,
    );
    prove(before, after, own, isRemoval);
    // A file that began with the mark was there before.
    changes.push({ path, before: whole, after: after === null ? null : mark + after });
  }
  return changes;
}

function added(text: string | null, entry: Entry): string {
  return entry.kind === 'toml server' ? addTable(text, entry) : addEntry(text, entry);
}

function removed(text: string | null, entry: Entry): string | null {
  if (text === null) return null;
  return entry.kind === 'toml server' ? removeTable(text, entry) : removeEntry(text, entry);
}

/** What is written holds exactly what was there before, with ours or without. */
function prove(before: string | null, after: string | null, entries: readonly Entry[], isRemoval: boolean): void {
  for (const entry of entries) {
    const isProven =
      entry.kind === 'toml server'
        ? isDeepStrictEqual(othersIn(before ?? '', entry), othersIn(after ?? '', entry))
        : areOthersSame(before, after, entries.filter((each): each is JsonEntry => each.kind !== 'toml server')); // prettier-ignore
    if (isProven && hasOurs(after ?? '', entry) !== isRemoval) continue;
    throw new MeshError(
      'conflict',
      `${entry.file} is laid out in a way that is not edited here, so nothing was changed: ${isRemoval ? 'take git-mesh out' : 'add git-mesh'} by hand (docs/mcp-clients.md)`,
    );
  }
}

function areOthersSame(before: string | null, after: string | null, entries: readonly JsonEntry[]): boolean {
  const [old, now] = [othersOf(before ?? '', entries), othersOf(after ?? '', entries)];
  if (old === now) return true;
  const preset = presetOthers(entries);
  const isBlank = (text: string | null): boolean => (text ?? '').trim() === '';
  return (isBlank(before) && now === preset) || (isBlank(after) && old === preset);
}

function hasOurs(text: string, entry: Entry): boolean {
  if (entry.kind === 'toml server') return hasTable(text, entry);
  const tree = readTree(text, entry.file);
  return tree !== null && placesOf(tree, entry).length > 0;
}
