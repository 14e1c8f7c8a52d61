import { MeshError, branchRef, charterRef, toIso, visibleText } from '@git-mesh/core';
import type { Branch, Handle, ImportResult, MeshContext, Oid, RefName, RemoteState, Store } from '@git-mesh/core';
import { settleHistory } from '../history.js';
import { journalArrivals } from '../journal-arrivals.js';
import type { Rejected } from '../remote-fetch.js';
import type { RemoteStates } from '../remote-states.js';
import { branchNames } from './branch-names.js';
import { bundleBytes } from './bundle-file.js';
import { BundleReader } from './bundle-reader.js';
import { bundleRemote } from './bundle-transport.js';
import type { BundleHeader } from './header.js';
import { about, acceptBundle, differentMesh, handlesOf, refsOfMesh, requireSameMesh, takeInPack } from './take-in.js';

export interface ImportOptions {
  /** An absolute path, or `-` with `source`. */
  file: string;
  /** What is read in place of the file. */
  source?: AsyncIterable<Uint8Array>;
  onProgress?: (line: string) => void;
}

export interface ImportDependencies {
  mesh: MeshContext;
  states: RemoteStates;
  /** Called once what arrived has its numbers; returns at once. */
  onJournaled?: () => void;
}

/** At most as many are named in an error. */
const maxNamed = 10;

/**
 * Takes in a bundle as a fetch takes in what a remote has: same checks, same pins, and one branch that does not pass
 * holds up no other. Safe to repeat: after a crash in the middle the next import heals it.
 *
 * @throws MeshError `not_found`, `forbidden` (the file), `invalid_argument` (no bundle), `protocol_error`,
 * `payload_too_large`, `bundle_incomplete` (its prerequisites are not here), `different_mesh`: then no branch moved.
 */
export async function importBundle(deps: ImportDependencies, options: ImportOptions): Promise<ImportResult> {
  const { mesh, states } = deps;
  const shown = options.file === '-' ? 'on standard input' : options.file;
  const before = await snapshot(mesh);
  let taken: Taken;
  try {
    const reader = await BundleReader.open(options.source ?? bundleBytes(options.file));
    try {
      taken = await takeIn(deps, reader, options);
    } finally {
      await reader.close();
    }
  } catch (error) {
    throw about(shown, error);
  }
  const last: RemoteState = {
    last_ok_at: toIso(mesh.clock.now()),
    next_try_at: null,
    failures: 0,
    error: null,
    rejected: taken.rejected,
    writable: false,
  };
  states.set(bundleRemote, last);
  await states.flush([bundleRemote]);
  // Before the receipts are stated, which move the own branch too.
  const after = await snapshot(mesh);
  await journalArrivals(mesh);
  deps.onJournaled?.();
  return result(mesh, options.file, { before, after, taken });
}

/** @throws MeshError where nothing of it can be taken in, before any of its pack is read. */
async function refsToTakeIn(store: Store, header: BundleHeader): Promise<Map<RefName, Oid>> {
  const prefix = store.config.ref_prefix;
  const refs = refsOfMesh(prefix, branchNames(header.refs));
  if (refs.size === 0) {
    throw new MeshError(
      'not_found',
      `it holds no branch of a mesh: expected some under ${prefix}, as in a bundle that git mesh export made`,
    );
  }
  const missing: BundleHeader['prerequisites'][number][] = [];
  for (const prerequisite of header.prerequisites) {
    if (!(await store.objects.has(prerequisite.oid))) missing.push(prerequisite);
  }
  if (missing.length === 0) return refs;
  const charter = refs.get(charterRef(prefix));
  // A charter is written once: with another one, no full bundle would help.
  if (charter !== undefined && charter !== (await store.refs.read(charterRef(prefix)))) throw differentMesh(null);
  throw incomplete(missing);
}

function incomplete(missing: BundleHeader['prerequisites']): MeshError {
  const named = missing.slice(0, maxNamed).map(({ oid, comment }) => {
    const what = visibleText(comment, { maxLength: 80 });
    return { commit: oid, what: what === '' ? null : what };
  });
  const list = named.map(({ commit, what }) => (what === null ? commit : `${commit} (${what})`)).join(', ');
  const more = missing.length > named.length ? ` and ${missing.length - named.length} more` : '';
  return new MeshError(
    'bundle_incomplete',
    `it goes on from ${missing.length === 1 ? 'a commit' : 'commits'} that this store does not have: ${list}${more}. ` +
      'Import the bundles made before it first; where one is lost, ask for a whole one: git mesh export FILE, without --since-last',
    { data: { missing: named, missing_count: missing.length } },
  );
}

interface Taken {
  refs: ReadonlyMap<RefName, Oid>;
  rejected: Rejected[];
}

async function takeIn(
  { mesh, states }: ImportDependencies,
  reader: BundleReader,
  { onProgress }: ImportOptions,
): Promise<Taken> {
  const { store } = mesh;
  const refs = await refsToTakeIn(store, reader.header);
  const known = (await states.get(bundleRemote))?.rejected ?? [];
  const { here, absent } = await takeInPack(store, reader, refs, onProgress);
  await requireSameMesh(store, here);
  onProgress?.(`checking ${here.size} branches`);
  const rejected = [...(await acceptBundle(mesh, here, known)), ...absent];
  for (const { message } of (await settleHistory(mesh)).problems) mesh.logger.warn(message);
  // A bundle says nothing of branches that are not in it: what is known of them stays.
  const elsewhere = known.filter(({ handle }) => !refs.has(branchRef(store.config.ref_prefix, handle as Handle)));
  const named = new Set(rejected.map(({ handle }) => handle));
  return { refs, rejected: [...rejected, ...elsewhere.filter(({ handle }) => !named.has(handle))] };
}

interface Snapshot {
  highest: number;
  branches: ReadonlyMap<Handle, Branch>;
}

async function snapshot({ store, branches }: MeshContext): Promise<Snapshot> {
  const { highest } = await store.journal.view();
  return { highest, branches: new Map((await branches.all()).map((branch) => [branch.handle, branch])) };
}

async function result(
  mesh: MeshContext,
  file: string,
  { before, after, taken }: { before: Snapshot; after: Snapshot; taken: Taken },
): Promise<ImportResult> {
  const prefix = mesh.store.config.ref_prefix;
  const handles = new Set<string>(handlesOf(prefix, taken.refs));
  let branches = 0;
  let commits = 0;
  for (const { handle, tip, seq } of after.branches.values()) {
    const old = before.branches.get(handle);
    if (tip === old?.tip || tip !== taken.refs.get(branchRef(prefix, handle))) continue;
    branches += 1;
    commits += seq - (old?.seq ?? 0);
  }
  const { messages } = await mesh.store.journal.view();
  const arrived = messages.filter(
    ({ n, sender }) => n > before.highest && sender !== mesh.branches.own && handles.has(sender),
  ).length;
  const rejected = taken.rejected
    .filter(({ handle }) => handles.has(handle) || handle === '_charter')
    .map(({ handle, kind, message }) => ({ machine: handle, kind, message }));
  return { file, branches, commits, arrived, rejected };
}
