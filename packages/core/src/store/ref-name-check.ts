import type { RefName } from '../domain/ids.js';
import { MeshError } from '../errors.js';

/** git's own rules (git-check-ref-format) for a whole ref name, which also keep it inside the store's `refs` folder. */
export function isRefName(name: string): name is RefName {
  if (name.length > 1_000 || !name.startsWith('refs/') || name.endsWith('.')) return false;
  // eslint-disable-next-line no-control-regex -- git refuses control characters
  if (/[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{/.test(name)) return false;
  const parts = name.split('/');
  return parts.length >= 3 && parts.every((part) => part !== '' && !part.startsWith('.') && !/\.lock$/i.test(part));
}

/** @throws MeshError `invalid_argument`. */
export function checkRefName(name: string): void {
  if (!isRefName(name))
    throw new MeshError('invalid_argument', `${JSON.stringify(name)} is no name that git gives a ref`);
}
