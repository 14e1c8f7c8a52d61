import { createHash } from 'node:crypto';

const sumBytes = 20;

/** Whether a file of git's (a pack, an index) ends in the SHA-1 of what stands before it. */
export function isSummed(bytes: Uint8Array): boolean {
  const sum = createHash('sha1').update(bytes.subarray(0, -sumBytes)).digest();
  return sum.equals(bytes.subarray(-sumBytes));
}
