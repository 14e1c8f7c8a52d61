import { dirname } from 'node:path';
import {
  MeshError,
  branchRef,
  charterRef,
  isAncestor,
  nodeFs,
  packParts,
  sweepTemporary,
  visibleText,
  writeDurableFrom,
} from '@git-mesh/core';
import type { ExportResult, GitObject, Handle, MeshContext, Objects, Oid, RefName } from '@git-mesh/core';
import { newObjects } from '../new-objects.js';
import { fetchLimits } from '../remote-context.js';
import { fileError } from './bundle-file.js';
import { ExportMemory } from './export-memory.js';
import type { Tips } from './export-memory.js';
import { formatHeader } from './header.js';

export interface ExportOptions {
  /** An absolute path; what is there is replaced, a link too. */
  file: string;
  /** The file's permissions, before the umask; those of any new file where left out. */
  mode?: number;
  /** Only what is new since the last export under this name. */
  sinceLast?: string;
  onProgress?: (line: string) => void;
  /** Leaves no file of its own behind. */
  signal?: AbortSignal;
}

/** One branch on its way into the bundle. */
interface Part {
  ref: RefName;
  tip: Oid;
  /** The tip that the receiver has by an earlier bundle. */
  base: Oid | null;
  /** Null for the charter. */
  handle: Handle | null;
}

/** Shows the progress of a long one this often, in objects. */
const progressEvery = 5_000;

/**
 * Writes the mesh as it is here into a bundle that stock git reads: every accepted branch and the charter. With
 * `sinceLast`, what the last export of that name had is left out and made a prerequisite; nothing new makes no file.
 *
 * @throws MeshError `history_incomplete` where a branch would have to go in whole and only its newer part is here,
 * `invalid_argument`, `payload_too_large`, `cancelled`, and what {@link fileError} makes of the disk's errors: then
 * a file that was there before is still there as it was.
 */
export async function exportBundle(mesh: MeshContext, options: ExportOptions): Promise<ExportResult> {
  const { file, sinceLast, onProgress } = options;
  const memory = sinceLast === undefined ? null : new ExportMemory(mesh, sinceLast);
  await refuseOddTarget(file);
  const known: Tips = (await memory?.read()) ?? new Map<RefName, Oid>();
  onProgress?.('collecting what is new');
  const chosen = await collect(mesh, known);
  const { parts, left_out } = chosen;
  if (parts.length === 0) return { file, branches: 0, commits: 0, left_out };
  const written = await writeBundle(mesh, { ...chosen, known }, options);
  // Do not reorder: what is noted as exported before it is on the disk would be missing from every later bundle.
  await memory?.write(new Map([...known, ...parts.map(({ ref, tip }) => [ref, tip] as const)]));
  return { file, branches: parts.length, commits: written.commits, left_out };
}

interface Chosen {
  parts: Part[];
  objects: Set<Oid>;
  left_out: ExportResult['left_out'];
}

/** The branches with something new. One of others that is not whole here is left out, and holds up none. */
async function collect(mesh: MeshContext, known: Tips): Promise<Chosen> {
  const { store } = mesh;
  const prefix = store.config.ref_prefix;
  const own = await mesh.branches.ownBranch();
  const tips: Omit<Part, 'base'>[] = [];
  const charter = await store.refs.read(charterRef(prefix));
  if (charter !== null) tips.push({ ref: charterRef(prefix), tip: charter, handle: null });
  for (const { handle, tip } of await mesh.branches.all()) tips.push({ ref: branchRef(prefix, handle), tip, handle });

  const chosen: Chosen = { parts: [], objects: new Set(), left_out: [] };
  for (const { ref, tip, handle } of tips) {
    const before = known.get(ref) ?? null;
    if (before === tip) continue;
    try {
      const base = before !== null && (await isBase(store.objects, before, tip)) ? before : null;
      const found = await newObjects(store.objects, base, tip);
      // What is wrong with the own branch ends the export when it is read.
      if (handle !== null && handle !== own.handle) for (const oid of found) await requireHere(store.objects, oid);
      for (const oid of found) chosen.objects.add(oid);
      chosen.parts.push({ ref, tip, base, handle });
    } catch (error) {
      if (!(error instanceof MeshError) || handle === null || handle === own.handle) throw error;
      // Not damage: whoever joins from it would lack what every other machine has.
      if (error.errorName === 'history_incomplete') throw cannotExport(handle, error);
      chosen.left_out.push({ machine: handle, message: visibleText(error.message, { maxLength: 300 }) });
    }
  }
  return chosen;
}

const cannotExport = (handle: Handle, cause: MeshError): MeshError =>
  new MeshError(
    'history_incomplete',
    `nothing was exported: this store has only the newer part of the history of ${handle}, and a bundle of a mesh is whole. ` +
      'Get the rest first with git-mesh sync --history',
    { data: cause.data, cause },
  );

/** A branch that was put back from elsewhere goes whole: a prerequisite that is not its ancestor would spare nothing. */
async function isBase(objects: Objects, older: Oid, newer: Oid): Promise<boolean> {
  return (await objects.has(older)) && (await isAncestor(objects, older, newer));
}

async function requireHere(objects: Objects, oid: Oid): Promise<void> {
  if (await objects.has(oid)) return;
  throw new MeshError('store_damaged', `object ${oid} of its history is not in this store`, { data: { oid } });
}

async function writeBundle(
  mesh: MeshContext,
  { parts, objects, known }: Chosen & { known: Tips },
  { file, mode, onProgress, signal }: ExportOptions,
): Promise<{ commits: number }> {
  const header = formatHeader(headerOf(mesh.store.config.ref_prefix, parts, known));
  let commits = 0;
  async function* contents(): AsyncGenerator<GitObject, void> {
    let count = 0;
    for (const oid of objects) {
      if (signal?.aborted === true) throw new MeshError('cancelled', `the export was broken off: ${file} is as it was`);
      const object = await mesh.store.objects.read(oid);
      if (object.type === 'commit') commits += 1;
      yield object;
      count += 1;
      if (count % progressEvery === 0) onProgress?.(`packed ${count} of ${objects.size} objects`);
    }
  }
  async function* bytes(): AsyncGenerator<Uint8Array, void> {
    yield header;
    let written = 0;
    for await (const part of packParts(objects.size, contents())) {
      written += part.length;
      if (written > fetchLimits.maxPackBytes) throw tooLarge(fetchLimits.maxPackBytes);
      yield part;
    }
  }
  try {
    await sweepTemporary(nodeFs, dirname(file));
    await writeDurableFrom(nodeFs, file, bytes(), mode === undefined ? {} : { mode });
  } catch (error) {
    throw fileError(error, file, 'written');
  }
  return { commits };
}

/**
 * The charter is in every bundle, so that a reader can tell another mesh's. A bundle that is complete in itself says
 * what a `git clone` of it shows, as a repository that is nothing but a mesh does.
 */
function headerOf(prefix: string, parts: readonly Part[], known: Tips): Parameters<typeof formatHeader>[0] {
  const charter = charterRef(prefix);
  const prerequisites: { oid: Oid; comment: string }[] = [];
  for (const { ref, base } of parts) if (base !== null) prerequisites.push({ oid: base, comment: ref });
  const carried: { ref: string; oid: Oid }[] = parts.map(({ ref, tip }) => ({ ref, oid: tip }));
  const had = known.get(charter);
  const isNew = parts.some(({ ref }) => ref === charter);
  if (!isNew && had !== undefined) {
    prerequisites.push({ oid: had, comment: charter });
    carried.unshift({ ref: charter, oid: had });
  }
  const first = carried.find(({ ref }) => ref === charter);
  if (first !== undefined && prerequisites.length === 0) {
    carried.unshift({ ref: 'HEAD', oid: first.oid }, { ref: 'refs/heads/main', oid: first.oid });
  }
  return { prerequisites, refs: carried };
}

/** A device or a pipe would be replaced by a file of its name. */
async function refuseOddTarget(file: string): Promise<void> {
  let stat;
  try {
    stat = await nodeFs.stat(file);
  } catch (error) {
    throw fileError(error, file, 'written');
  }
  if (stat === null || stat.kind === 'file') return;
  const what = stat.kind === 'folder' ? 'a folder' : 'no regular file';
  throw new MeshError('invalid_argument', `${file} is ${what}: expected a path to write a bundle at`);
}

const tooLarge = (limit: number): MeshError =>
  new MeshError(
    'payload_too_large',
    `the bundle would have more than the ${limit} bytes that an import takes at once: nothing was written. ` +
      'Let git make one, which packs closer: git --git-dir STORE bundle create FILE --all',
    { data: { limit } },
  );
