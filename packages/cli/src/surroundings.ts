import { UsageError } from './usage-error.js';

/** @throws UsageError where the current folder was removed, or may not be looked at. */
export function currentFolder(ask: () => string): string {
  try {
    return ask();
  } catch (error) {
    throw new UsageError(
      `the current folder is gone or cannot be read (${reason(error)}): cd to another one, or name the store by an absolute path with --dir or GIT_MESH_DIR`,
    );
  }
}

/** @throws UsageError where the system knows no home of this user. */
export function homeFolder(ask: () => string): string {
  try {
    return ask();
  } catch (error) {
    throw new UsageError(
      `this user has no home folder (${reason(error)}): set HOME, or name the store with --dir or GIT_MESH_DIR`,
    );
  }
}

/** Whatever the system answers, that folder cannot be used: its code is all that differs. */
function reason(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
