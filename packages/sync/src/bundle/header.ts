import { MeshError, isOid, isRefName } from '@git-mesh/core';
import type { Oid, RefName } from '@git-mesh/core';
import { redact } from '../redact.js';

/** What a git bundle says of itself before its pack. */
export interface BundleHeader {
  /** Commits that whoever takes it in must have; the comment is what its maker says of one (git: the subject). */
  prerequisites: readonly { oid: Oid; comment: string }[];
  /** Everything under `refs/`; HEAD and names that git would refuse are left out. */
  refs: ReadonlyMap<RefName, Oid>;
}

/** How every bundle that can be read here begins. */
export const signatures: readonly string[] = ['# v2 git bundle\n', '# v3 git bundle\n'];

/**
 * Reads the header of a bundle of version 2 or 3, up to the empty line before the pack.
 * @throws MeshError `protocol_error` for one that is malformed, `invalid_argument` for one that a mesh has no use for:
 * of SHA-256 objects, or with objects left out by a filter.
 */
export function parseHeader(text: string): BundleHeader {
  const signature = signatures.find((known) => text.startsWith(known));
  if (signature === undefined) throw malformed(text.slice(0, 40));
  const lines = text.slice(signature.length).split('\n');
  const prerequisites: { oid: Oid; comment: string }[] = [];
  const refs = new Map<RefName, Oid>();
  for (const line of lines) {
    if (line === '') continue;
    if (line.startsWith('@') && signature === signatures[1]) {
      checkCapability(line.slice(1));
      continue;
    }
    const [oid = '', ...rest] = (line.startsWith('-') ? line.slice(1) : line).split(' ');
    const name = rest.join(' ');
    if (!isOid(oid)) throw malformed(line);
    if (line.startsWith('-')) {
      prerequisites.push({ oid, comment: name });
    } else if (isRefName(name)) {
      if (refs.has(name)) throw malformed(line);
      refs.set(name, oid);
    } else if (name === '') {
      throw malformed(line);
    }
  }
  return { prerequisites, refs };
}

function checkCapability(capability: string): void {
  if (capability === 'object-format=sha1') return;
  const what = capability.startsWith('object-format=')
    ? `holds ${redact(capability.slice(14), { maxLength: 20 })} objects: a mesh has SHA-1 objects`
    : `needs "${redact(capability, { maxLength: 40 })}", which git-mesh does not know: make it with plain git bundle create`;
  throw new MeshError('invalid_argument', `the bundle ${what}`);
}

const malformed = (line: string): MeshError =>
  new MeshError('protocol_error', `its header has a line that is not git's: "${redact(line, { maxLength: 80 })}"`);

/** The header of a bundle of version 2, which every git since 1.5.1 reads; HEAD may be among the refs. */
export function formatHeader(header: {
  prerequisites: readonly { oid: Oid; comment: string }[];
  refs: readonly { ref: string; oid: Oid }[];
}): Uint8Array {
  const lines = [
    ...header.prerequisites.map(({ oid, comment }) => `-${oid} ${comment}\n`),
    ...header.refs.map(({ ref, oid }) => `${oid} ${ref}\n`),
  ];
  return Buffer.from(`${signatures[0] ?? ''}${lines.join('')}\n`);
}
