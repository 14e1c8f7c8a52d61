import { MeshError } from '../errors.js';
import { withoutTemporaryNames } from './durable-fs.js';
import { errnoOf } from './fs.js';

/**
 * A refusal of the operating system that nothing on its way named: a file that went away while it was read, a limit, a
 * folder where a file should be. It is the surroundings' and no bug, so it is told as `store_unusable` with what was
 * being done. Null for anything else.
 */
export function systemFailure(error: unknown): MeshError | null {
  const errno = errnoOf(error);
  if (errno === undefined || !(error instanceof Error)) return null;
  if (!('syscall' in error) || !('errno' in error) || typeof error.errno !== 'number') return null;
  return new MeshError(
    'store_unusable',
    `the system refused a step: ${withoutTemporaryNames(error.message)}. Something may have changed or removed files meanwhile: try again, and let git mesh doctor look at the store`,
    { data: { errno }, cause: error },
  );
}
