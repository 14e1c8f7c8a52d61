import { keysOf } from '../domain/key-chain.js';
import type { MachineRecord } from '../domain/records.js';
import { MeshError } from '../errors.js';
import { keyFingerprint } from '../store/public-key.js';

/** The keys by which a machine is known, the current one last. */
export function knownKeys(machine: MachineRecord): readonly string[] {
  return keysOf(machine);
}

/** As {@link keyFingerprint}; null for a weak key, which nothing is signed with that is believed. */
export function fingerprintOrNull(line: string): string | null {
  try {
    return keyFingerprint(line);
  } catch (error) {
    if (error instanceof MeshError) return null;
    throw error;
  }
}
