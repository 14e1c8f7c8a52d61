import { randomBytes } from 'node:crypto';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isHandle, isUlid } from '../domain/ids.js';
import type { Fs } from '../store/fs.js';
import type { StoreConfig } from '../store/ports.js';
import { Store } from '../store/store.js';
import type { StoreDeps } from '../store/store.js';
import { silentLogger } from '../logger.js';

/** A new empty folder, and its removal. */
export async function temporaryFolder(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'git-mesh-test-')));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** The system's clock and randomness, and a logger that says nothing. */
export function storeDeps(fs?: Fs): StoreDeps {
  return {
    ...(fs === undefined ? {} : { fs }),
    clock: { now: () => Date.now() },
    random: (length) => randomBytes(length),
    logger: silentLogger,
  };
}

/** The configuration of a mesh without remotes. */
export function storeConfig(handle = 'studio'): StoreConfig {
  const mesh = '01J0000000000000000000MESH';
  const store = '01J00000000000000000ST0RE0';
  if (!isHandle(handle) || !isUlid(mesh) || !isUlid(store)) throw new Error(`${handle} is no handle`);
  return {
    format: 1,
    mesh: { id: mesh, name: 'test' },
    policy: 'open',
    handle,
    label: null,
    store,
    ref_prefix: 'refs/heads/mesh/',
    remotes: [],
  };
}

/** A published store at `dir`. */
export async function newStore(dir: string, handle?: string): Promise<Store> {
  const draft = await Store.create(dir, { config: storeConfig(handle) }, storeDeps());
  return draft.publish();
}
