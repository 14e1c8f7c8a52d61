import { MeshError } from '../errors.js';
import type { Handle, Oid, RefName } from './ids.js';
import { isHandle } from './ids.js';
import { visibleText } from './visible-text.js';

export const defaultRefPrefix = 'refs/heads/mesh/';

/** @throws MeshError `invalid_argument` for anything but a folder of refs, as in `refs/heads/mesh/` or `refs/mesh/`. */
export function parseRefPrefix(text: string): string {
  const parts = text.split('/');
  const valid =
    text.length <= 200 &&
    parts.length >= 3 &&
    parts[0] === 'refs' &&
    parts.at(-1) === '' &&
    // A stricter rule than git's: what passes needs no quoting anywhere and holds none of its special forms.
    parts
      .slice(1, -1)
      .every((part) => /^[A-Za-z0-9_](?:[A-Za-z0-9_-]|\.(?=[A-Za-z0-9_-]))*$/.test(part) && !part.endsWith('.lock')) &&
    !['remotes', 'tags', 'quarantine'].includes(parts[1] ?? '') &&
    text !== 'refs/heads/';
  if (valid) return text;
  throw new MeshError(
    'invalid_argument',
    `"${visibleText(text, { maxLength: 80 })}" is no ref prefix: expected a folder under refs/ that ends in "/", as in refs/heads/mesh/ or refs/mesh/`,
  );
}

/** The ref of a machine's branch. */
export function branchRef(prefix: string, handle: Handle): RefName {
  return `${prefix}${handle}` as RefName;
}

/** The machine whose branch `ref` is; null for the charter and for everything that is not the mesh's. */
export function handleOfRef(prefix: string, ref: string): Handle | null {
  if (!ref.startsWith(prefix)) return null;
  const handle = ref.slice(prefix.length);
  return isHandle(handle) ? handle : null;
}

export function charterRef(prefix: string): RefName {
  return `${prefix}_charter` as RefName;
}

/** Where a tip of a machine's branch is kept that the branch itself does not lead to. */
export function quarantineRef(handle: Handle, tip: Oid): RefName {
  return `refs/quarantine/${handle}/${tip.slice(0, 12)}` as RefName;
}

/** Where a fetch leaves what it brought, unchecked, as in `refs/remotes/origin/mesh/studio`. */
export function remoteRef(remote: string, prefix: string, handle: Handle | '_charter'): RefName {
  return `${remoteRefPrefix(remote, prefix)}${handle}` as RefName;
}

/** The folder of {@link remoteRef}: the mesh's prefix without `refs/heads/` (or `refs/`), under the remote's name. */
export function remoteRefPrefix(remote: string, prefix: string): string {
  return `refs/remotes/${remote}/${prefix.replace(/^refs\/(?:heads\/)?/, '')}`;
}
