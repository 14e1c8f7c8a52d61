import { MeshError } from '../errors.js';

const diskTrouble: ReadonlySet<string> = new Set(['disk_full', 'read_only', 'store_unusable']);

/** What a disk that is full, read-only, at a limit (EFBIG, EDQUOT) or failing (EIO) answers to a write. */
export function isDiskTrouble(error: unknown): error is MeshError {
  return error instanceof MeshError && diskTrouble.has(error.errorName);
}
