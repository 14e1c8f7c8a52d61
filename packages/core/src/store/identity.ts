import { createHash } from 'node:crypto';
import { readlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { isErrno } from './fs.js';
import type { ProcessIdentity } from './ports.js';
import { linuxProcess, startTime, textOf } from './process-start.js';

/** Two ways of asking for a start time may differ by this much. */
const startToleranceMs = 2_000;

/** This process, as others can tell it from a later one with its pid. */
export async function ownIdentity(): Promise<ProcessIdentity> {
  const identity: ProcessIdentity = { pid: process.pid, started_at: Math.round(performance.timeOrigin) };
  const { boot, pidns, host } = await surroundings();
  if (host !== null) identity.host = host;
  if (boot !== null) identity.boot = boot;
  if (pidns !== null) identity.pidns = pidns;
  const ticks = boot === null ? undefined : (await linuxProcess('self'))?.ticks;
  if (ticks !== undefined) identity.ticks = ticks;
  return identity;
}

/**
 * True only with proof that the process has ended: no such pid in this pid namespace, a process under that pid which
 * started at another time, or another boot of this machine. False when it lives and when nothing can be proven. `own` is
 * {@link ownIdentity}, for those who ask often: what it says of the machine holds for as long as this process lives.
 */
export async function provenDead(identity: ProcessIdentity, own?: ProcessIdentity): Promise<boolean> {
  const here = own ?? (await ownIdentity());
  const sameMachine = identity.host !== undefined && identity.host === here.host;
  if (identity.boot !== here.boot) {
    return identity.boot !== undefined && here.boot !== undefined && sameMachine;
  }
  // One boot id is one kernel, whatever name its containers go by.
  if (here.boot === undefined && !sameMachine) return false;
  if (identity.pidns !== here.pidns) return false;
  if (!pidExists(identity.pid)) return true;
  if (here.boot !== undefined) {
    const process = await linuxProcess(identity.pid);
    return process === null
      ? !pidExists(identity.pid)
      : process.ended || (identity.ticks !== undefined && process.ticks !== identity.ticks);
  }
  if (identity.pid === process.pid) return Math.abs(performance.timeOrigin - identity.started_at) > startToleranceMs;
  const started = await startTime(identity.pid, process.platform);
  return started !== null && Math.abs(started - identity.started_at) > startToleranceMs;
}

async function surroundings(): Promise<{ boot: string | null; pidns: string | null; host: string | null }> {
  const linux = process.platform === 'linux';
  const boot = linux ? await textOf('/proc/sys/kernel/random/boot_id') : null;
  const machine = linux ? await textOf('/etc/machine-id') : '';
  return { boot, pidns: linux ? await pidNamespace() : null, host: hostId(machine ?? '') };
}

/** A hash, since the machine's id is to be kept confidential (machine-id(5)). */
function hostId(machine: string): string {
  return createHash('sha256').update(`git-mesh\0${hostname()}\0${machine}`).digest('hex').slice(0, 32);
}

async function pidNamespace(): Promise<string | null> {
  try {
    return await readlink('/proc/self/ns/pid');
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'EACCES', 'EPERM')) return null;
    throw error;
  }
}

/** True for a process of this pid namespace that is there, whoever's it is. */
export function pidExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    if (isErrno(error, 'ESRCH')) return false;
    // EPERM: it is there and another user's.
    if (isErrno(error, 'EPERM')) return true;
    throw error;
  }
}
