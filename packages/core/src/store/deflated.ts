import { promisify } from 'node:util';
import { constants, deflate, deflateSync } from 'node:zlib';

const deflateAsync = promisify(deflate);
/**
 * Up to this size zlib works in place: a hop through node's thread pool costs twenty times as much as what it does for
 * the few hundred bytes of most objects.
 */
export const smallObjectBytes: number = 64 * 1024;
/** A window that fits the data: most of zlib's time for a small object goes into the memory of a large one. */
const smallWindow = { windowBits: 12, memLevel: 5 };

/** For objects on the disk and on the wire alike. */
export async function deflated(bytes: Uint8Array): Promise<Uint8Array> {
  const level = constants.Z_BEST_SPEED;
  if (bytes.length > smallObjectBytes) return deflateAsync(bytes, { level });
  // Of zlib's usual pieces of 16 KB a result of a few hundred bytes would keep the whole in memory.
  const chunkSize = Math.max(64, Math.ceil(bytes.length / 2));
  return deflateSync(bytes, bytes.length <= 4096 ? { level, chunkSize, ...smallWindow } : { level, chunkSize });
}
