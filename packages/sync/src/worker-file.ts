import { randomBytes } from 'node:crypto';
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pidExists } from '@git-mesh/core';

/** A lock that was not renewed for this long is its holder's no more. The same everywhere, or two would hold it. */
export const workerStaleMs = 3_000;
export const workerUpdateMs = 1_000;
const maxPid = 2 ** 31 - 1;

export interface WorkerInfo {
  pid: number;
  /** When it was elected, ISO 8601 UTC with milliseconds. */
  since: string;
}

/** What proper-lockfile is given; it adds `.lock`. */
export function workerFile(dir: string): string {
  return join(dir, 'mesh', 'worker');
}

export function workerLock(dir: string): string {
  return `${workerFile(dir)}.lock`;
}

function infoFile(dir: string): string {
  return `${workerFile(dir)}.json`;
}

/**
 * The live worker of the store at `dir`: the one named beside a lock that is being renewed. Null where there is none,
 * or where it cannot be told (then a command syncs for itself, which is never wrong). Two small reads, no lock.
 */
export async function readWorker(dir: string): Promise<WorkerInfo | null> {
  const renewedAt = await lockTime(dir);
  // A time in the future is no proof of life: no holder of this machine writes one.
  if (renewedAt === null || Math.abs(Date.now() - renewedAt) > workerStaleMs) return null;
  const claim = await readClaim(dir);
  // A killed worker's lock stays fresh for a while: what is sent in that time must not wait for nobody.
  return claim === null || !pidExists(claim.pid) ? null : { pid: claim.pid, since: claim.since };
}

/** When the lock was last renewed, in milliseconds of the file system's clock; null where there is no lock. */
export async function lockTime(dir: string): Promise<number | null> {
  try {
    return (await stat(workerLock(dir))).mtimeMs;
  } catch {
    return null;
  }
}

/** Who says to be the worker; `token` tells two elections of one process apart. */
export interface WorkerClaim extends WorkerInfo {
  token: string;
}

/** Null where there is no claim, or none that can be read. */
export async function readClaim(dir: string): Promise<WorkerClaim | null> {
  try {
    const value: unknown = JSON.parse(await readFile(infoFile(dir), 'utf8'));
    if (typeof value !== 'object' || value === null) return null;
    const { pid, since, token } = value as Partial<Record<keyof WorkerClaim, unknown>>;
    // What no system has as a pid cannot be asked after either.
    if (!Number.isSafeInteger(pid) || Number(pid) > maxPid || typeof since !== 'string' || typeof token !== 'string')
      return null;
    return { pid: Number(pid), since, token };
  } catch {
    return null;
  }
}

/** Atomic. @throws Error of the file system. */
export async function writeClaim(dir: string, claim: WorkerClaim): Promise<void> {
  const temporary = `${infoFile(dir)}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await writeFile(temporary, `${JSON.stringify(claim)}\n`, { flag: 'wx' });
    await rename(temporary, infoFile(dir));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Removes the claim if it is still the one with `token`. */
export async function removeClaim(dir: string, token: string): Promise<void> {
  if ((await readClaim(dir))?.token === token) await rm(infoFile(dir), { force: true });
}
