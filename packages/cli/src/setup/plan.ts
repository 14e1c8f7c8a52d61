import type { Entry } from './clients.js';
import { readObject, removeEntry, removeHook, setEntry, setHook } from './json-file.js';
import { removeTable, setTable } from './toml-file.js';

/** A file as it is and as it is to be; null where it is not there. */
export interface FileChange {
  path: string;
  before: string | null;
  after: string | null;
}

/**
 * What the files of a client become. `read` gives a file's text, null where there is none.
 * @throws MeshError where a file cannot be edited; nothing was written.
 */
export async function planSetup(
  entries: readonly Entry[],
  { isRemoval, read }: { isRemoval: boolean; read: (path: string) => Promise<string | null> },
): Promise<FileChange[]> {
  const changes = new Map<string, FileChange>();
  for (const entry of entries) {
    const known = changes.get(entry.file);
    const before = known === undefined ? await read(entry.file) : known.before;
    const text = (known === undefined ? before : known.after) ?? '';
    const edited = isRemoval ? removed(text, entry) : added(text, entry);
    const isEmpty = isRemoval && edited !== (before ?? '') && holdsNothing(edited, entry);
    changes.set(entry.file, { path: entry.file, before, after: before === null && edited === '' ? null : edited });
    if (isEmpty) changes.set(entry.file, { path: entry.file, before, after: null });
  }
  return [...changes.values()];
}

function added(text: string, entry: Entry): string {
  switch (entry.kind) {
    case 'json server':
      return setEntry(text, entry.file, entry.path, entry.value);
    case 'toml server':
      return setTable(text, entry.file, entry.table, entry.value);
    case 'hook':
      return setHook(text, entry.file, entry.path, entry.value, entry.preset);
  }
}

function removed(text: string, entry: Entry): string {
  if (text === '') return text;
  switch (entry.kind) {
    case 'json server':
      return removeEntry(text, entry.file, entry.path);
    case 'toml server':
      return removeTable(text, entry.table);
    case 'hook':
      return removeHook(text, entry.file, entry.path);
  }
}

/** Nothing is left but what a file of ours begins with. */
function holdsNothing(text: string, entry: Entry): boolean {
  if (entry.kind === 'toml server') return text.trim() === '';
  const preset = entry.kind === 'hook' ? entry.preset : {};
  return JSON.stringify(readObject(text, entry.file)) === JSON.stringify(preset);
}
