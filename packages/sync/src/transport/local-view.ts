import { join } from 'node:path';
import { LooseObjects, MeshError, isOid, isRefName, nodeFs } from '@git-mesh/core';
import type { Oid, RefName } from '@git-mesh/core';
import type { RemoteView } from './port.js';

/** Past it git, which reads them faster than one file after the other, is asked. */
const maxRefs = 5_000;
const maxDepth = 20;
/** An id and the end of a line. */
const maxRefBytes = 64;
const maxPackedRefsBytes = 4 * 1024 * 1024;
/** What is larger comes in a pack, from git. */
const maxObjectBytes = 1024 * 1024;

/**
 * Reads the bare repository at `path` as a `git upload-pack` would tell of it. Null for one of which only git knows what
 * it has to say: whose configuration includes another or hides refs, whose history is cut, and where any ref is not a
 * plain one. Nothing of what is there is run or believed: whoever reads an object from it has checked its id.
 */
export async function localView(path: string): Promise<RemoteView | null> {
  if (!(await isPlain(path))) return null;
  const refs = await plainRefs(path);
  // Of an empty one git tells what kind of repository it is.
  if (refs === null || refs.size === 0) return null;
  const loose = new LooseObjects(nodeFs, join(path, 'objects'));
  return {
    refs,
    async read(oid) {
      try {
        const found = await loose.stat(oid);
        if (found?.kind !== 'file' || found.size > maxObjectBytes) return null;
        const object = await loose.read(oid, maxObjectBytes);
        return typeof object === 'string' ? null : object;
      } catch (error) {
        // Gone meanwhile, or not for us: git tells which.
        if (isOfFiles(error)) return null;
        throw error;
      }
    },
  };
}

async function isPlain(path: string): Promise<boolean> {
  try {
    const config = Buffer.from(await nodeFs.readFile(join(path, 'config'))).toString('utf8');
    if (/^\s*\[\s*(?:include|includeif|extensions)\b/im.test(config) || /hiderefs/i.test(config)) return false;
    const version = /repositoryformatversion\s*=\s*"?(\d+)/i.exec(config)?.[1] ?? '0';
    return version === '0' && (await nodeFs.stat(join(path, 'shallow'))) === null;
  } catch (error) {
    if (isOfFiles(error)) return false;
    throw error;
  }
}

async function plainRefs(path: string): Promise<Map<RefName, Oid> | null> {
  const refs = new Map<RefName, Oid>();
  try {
    // Do not reorder: git puts a ref into packed-refs before it removes the ref's own file.
    if (!(await addLoose(path, { folder: 'refs', depth: 0, refs }))) return null;
    return (await addPacked(join(path, 'packed-refs'), refs)) ? refs : null;
  } catch (error) {
    if (isOfFiles(error)) return null;
    throw error;
  }
}

async function addLoose(
  path: string,
  { folder, depth, refs }: { folder: string; depth: number; refs: Map<RefName, Oid> },
): Promise<boolean> {
  if (depth > maxDepth) return false;
  for (const entry of await nodeFs.list(join(path, folder))) {
    const name = `${folder}/${entry}`;
    if (entry.endsWith('.lock')) continue;
    const found = await nodeFs.stat(join(path, name));
    if (found?.kind === 'folder') {
      if (!(await addLoose(path, { folder: name, depth: depth + 1, refs }))) return false;
      continue;
    }
    // Packed since, then it is in that file; or, with something else in its place, not plain.
    if (found === null) continue;
    if (found.kind !== 'file' || found.size > maxRefBytes || !isRefName(name) || refs.size >= maxRefs) return false;
    const oid = await looseRef(join(path, name));
    if (oid === 'gone') continue;
    if (oid === null) return false;
    refs.set(name, oid);
  }
  return true;
}

/** Null for what is no object's id and the end of a line. */
async function looseRef(file: string): Promise<Oid | 'gone' | null> {
  try {
    const oid = Buffer.from(await nodeFs.readFile(file))
      .toString('latin1')
      .trimEnd();
    return isOid(oid) && oid !== noObject ? oid : null;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 'gone';
    throw error;
  }
}

const noObject = '0'.repeat(40);

async function addPacked(file: string, refs: Map<RefName, Oid>): Promise<boolean> {
  const found = await nodeFs.stat(file);
  if (found === null) return true;
  if (found.kind !== 'file' || found.size > maxPackedRefsBytes) return false;
  const text = Buffer.from(await nodeFs.readFile(file)).toString('utf8');
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#') || /^\^[0-9a-f]{40}$/.test(line)) continue;
    const [oid, name] = [line.slice(0, 40), line.slice(41)];
    if (line[40] !== ' ' || !isOid(oid) || oid === noObject || !isRefName(name) || refs.size >= maxRefs) return false;
    if (!refs.has(name)) refs.set(name, oid);
  }
  return true;
}

/** A failure of the file system, which git meets too and tells in its own words. */
const isOfFiles = (error: unknown): boolean =>
  error instanceof MeshError || (error instanceof Error && 'code' in error && typeof error.code === 'string');
