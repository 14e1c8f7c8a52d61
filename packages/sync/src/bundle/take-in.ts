import { MeshError, charterRef, handleOfRef, readCharter, visibleText } from '@git-mesh/core';
import type { Handle, MeshContext, Oid, RefName, Store } from '@git-mesh/core';
import { fetchLimits } from '../remote-context.js';
import { fetchFrom } from '../remote-fetch.js';
import type { Rejected } from '../remote-fetch.js';
import type { BundleReader } from './bundle-reader.js';
import { bundleRemote, bundleTransport } from './bundle-transport.js';

/**
 * Makes a bundle's pack part of the store and gives what the bundle has of the mesh: its branches, and those whose tip
 * it names and neither holds nor finds here.
 * @throws MeshError `protocol_error`, `payload_too_large`: nothing was taken in.
 */
export async function takeInPack(
  store: Store,
  reader: BundleReader,
  refs: ReadonlyMap<RefName, Oid>,
  onProgress?: (line: string) => void,
): Promise<{ here: Map<RefName, Oid>; absent: Rejected[] }> {
  const { objects } = store;
  const missing: Oid[] = [];
  for (const oid of refs.values()) if (!(await objects.has(oid))) missing.push(oid);
  // Of a history that is not whole here, it may hold the rest.
  if (missing.length === 0 && (await objects.edges()).size === 0) {
    await reader.check();
  } else {
    onProgress?.('reading the bundle');
    const pack = await reader.pack(fetchLimits.maxPackBytes);
    onProgress?.(`taking in ${pack.length} bytes`);
    await objects.installPack(pack, { maxObjectBytes: fetchLimits.maxObjectBytes });
  }
  const here = new Map<RefName, Oid>();
  const absent: Rejected[] = [];
  for (const [ref, oid] of refs) {
    if (await objects.has(oid)) here.set(ref, oid);
    else
      absent.push({ ...rejectedAs(store, ref), tip: oid, message: 'its tip is named in the bundle but is not in it' });
  }
  return { here, absent };
}

const rejectedAs = (store: Store, ref: RefName): Pick<Rejected, 'handle' | 'kind'> => ({
  handle: handleOfRef(store.config.ref_prefix, ref) ?? '_charter',
  kind: 'unreadable',
});

/** @throws MeshError `different_mesh` */
export async function requireSameMesh(store: Store, refs: ReadonlyMap<RefName, Oid>): Promise<void> {
  const tip = refs.get(charterRef(store.config.ref_prefix));
  if (tip === undefined || tip === (await store.refs.read(charterRef(store.config.ref_prefix)))) return;
  const charter = await readCharter(store.objects, tip);
  if (charter.mesh !== store.config.mesh.id) throw differentMesh(charter.name);
}

export function differentMesh(name: string | null): MeshError {
  const what = name === null ? 'another mesh' : `another mesh ("${visibleText(name, { maxLength: 100 })}")`;
  return new MeshError(
    'different_mesh',
    `it is of ${what}: no branch was moved. Import it into a store of that mesh (--dir), or make one with git mesh join`,
  );
}

/** Checks and advances the branches exactly as a fetch from a remote does, once all their tips are here. */
export async function acceptBundle(
  mesh: MeshContext,
  refs: ReadonlyMap<RefName, Oid>,
  before: readonly Rejected[],
): Promise<Rejected[]> {
  const remote = { name: bundleRemote, url: '', transport: bundleTransport(refs) };
  // Nothing of it waits for anyone.
  const { signal } = new AbortController();
  const { rejected } = await fetchFrom({ mesh, remote, signal, logger: mesh.logger }, before);
  return rejected;
}

/** Each costs a ref and a check, and a problem where it does not pass: past this it is no mesh, but somebody's flood. */
const maxBranches = 5_000;

/**
 * The refs of a bundle that are the mesh's: its charter and the branches of its machines.
 * @throws MeshError `payload_too_large`
 */
export function refsOfMesh(prefix: string, refs: ReadonlyMap<RefName, Oid>): Map<RefName, Oid> {
  const found = [...refs].filter(([ref]) => ref === charterRef(prefix) || handleOfRef(prefix, ref) !== null);
  if (found.length > maxBranches) {
    throw new MeshError(
      'payload_too_large',
      `it names ${found.length} branches of the mesh: at most ${maxBranches} are taken in at once`,
      { data: { branches: found.length, limit: maxBranches } },
    );
  }
  return new Map(found);
}

/** Says which bundle it was that something is wrong with. */
export function about(shown: string, error: unknown): unknown {
  if (!(error instanceof MeshError)) return error;
  return new MeshError(error.errorName, `The bundle ${shown} was not taken in: ${error.message}`, {
    data: error.data,
    cause: error,
  });
}

export const handlesOf = (prefix: string, refs: ReadonlyMap<RefName, Oid>): Handle[] =>
  [...refs.keys()].map((ref) => handleOfRef(prefix, ref)).filter((handle) => handle !== null);
