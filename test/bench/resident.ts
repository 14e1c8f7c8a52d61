import { join } from 'node:path';
import { type Connection, silentLogger } from '@git-mesh/core';
import { initMesh, joinMesh, type OpenMesh, openMesh } from '@git-mesh/sync';
import { cleanEnvironment } from '../environment.js';
import { bareRemote, stockGit } from '../stock-git.js';

/** A machine whose store stays open in this process. */
export interface Resident {
  handle: string;
  store: string;
  mesh: OpenMesh;
  connection: Connection;
}

/** A machine of the mesh at `remote`, its store in `root` under its handle: the first one makes the mesh, others join. */
export async function addResident(
  root: string,
  { remote, handle, isFirst }: { remote: string; handle: string; isFirst: boolean },
): Promise<Resident> {
  const store = join(root, handle);
  const membership = {
    dir: store,
    env: cleanEnvironment(root),
    logger: silentLogger,
    hostname: handle,
    machine: handle,
  };
  if (isFirst) await initMesh({ ...membership, remote });
  else await joinMesh({ ...membership, url: remote });
  return { handle, store, ...(await openResident(root, store)) };
}

/** A store as a process that has just started opens it. */
export async function openResident(root: string, store: string): Promise<Pick<Resident, 'mesh' | 'connection'>> {
  const mesh = await openMesh({ dir: store, env: cleanEnvironment(root), logger: silentLogger });
  return { mesh, connection: mesh.newConnection({ resident: true }) };
}

/** An empty shared repository without git's housekeeping, which would fall on runs at random. */
export function quietRemote(root: string): string {
  const remote = bareRemote(root);
  stockGit(['config', 'gc.auto', '0'], { cwd: remote });
  stockGit(['config', 'receive.autogc', 'false'], { cwd: remote });
  return remote;
}
