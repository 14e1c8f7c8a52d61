import { MeshError } from '../errors.js';
import { keyFingerprint } from '../store/public-key.js';

/** As {@link keyFingerprint}; null for a weak key, which nothing is signed with that is believed. */
export function fingerprintOrNull(line: string): string | null {
  try {
    return keyFingerprint(line);
  } catch (error) {
    if (error instanceof MeshError) return null;
    throw error;
  }
}
