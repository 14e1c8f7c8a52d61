import { branchRef, charterRef, handleOfRef, hasUnseen, shellWord, visibleText } from '@git-mesh/core';
import type { Handle, MeshContext, OddRefs, Oid, RefName } from '@git-mesh/core';
import { charterHandle } from './charter-check.js';
import type { RoundContext } from './remote-context.js';
import { redactUrl } from './remote-url.js';
import type { Rejected } from './remote-fetch.js';

const maxNamed = 3;

/** Git keeps no two refs of which one is the folder of the other: who makes `mesh/c/sub` locks `mesh/c` out. */
export async function refsInTheWay(ctx: RoundContext, there: ReadonlyMap<RefName, Oid>): Promise<Rejected[]> {
  const { config } = ctx.mesh.store;
  const prefix = config.ref_prefix;
  const found: Rejected[] = [];
  const block = (handle: Handle, ref: RefName, refs: readonly RefName[]): void => {
    const [first] = refs;
    if (first === undefined) return;
    found.push({
      handle,
      tip: there.get(first) ?? (noObject as Oid),
      kind: 'ref_blocked',
      message: inTheWay(ref, refs, { dir: ctx.mesh.store.dir, url: redactUrl(ctx.remote.url) }),
    });
  };
  const above = refsAbove(prefix, there);
  block(config.handle, ctx.mesh.store.branch, above);
  if (above.length > 0) return found;
  const nested = nestedRefs(prefix, there);
  if (nested.size === 0) return found;
  const known = await knownHandles(ctx.mesh);
  for (const [name, refs] of nested) {
    if (name === charterHandle) block(charterHandle, charterRef(prefix), refs);
    else if (known.has(name)) block(name as Handle, branchRef(prefix, name as Handle), refs);
  }
  return found;
}

/** Refs that git takes for a folder in which the mesh's branches lie: beside such a one no branch can be made. */
export function refsAbove(prefix: string, there: ReadonlyMap<RefName, Oid>): RefName[] {
  return [...there.keys()].filter((ref) => prefix.startsWith(`${ref}/`));
}

/** Why one ref keeps another out. */
export const noTwoSuchRefs = 'to git one is the folder of the other, and it keeps no two such refs';

const noObject = '0'.repeat(40);

function inTheWay(ref: RefName, refs: readonly RefName[], { dir, url }: { dir: string; url: string }): string {
  const named = refs.slice(0, maxNamed);
  const more = refs.length > maxNamed ? ` and ${refs.length - maxNamed} more` : '';
  const plain = named.filter((one) => !hasUnseen(one) && one.length <= 120);
  const how =
    plain.length === 0
      ? ''
      : `: git --git-dir ${shellWord(dir)} push ${shellWord(url)} --delete ${plain.map((one) => shellWord(one)).join(' ')}`;
  return (
    `${named.map((one) => visibleText(one, { maxLength: 120 })).join(', ')}${more} stands in the way of ${ref} ` +
    `(${noTwoSuchRefs}). Have it deleted there${how}`
  );
}

/** Refs below what is, or would be, a branch of the mesh, by its name. */
function nestedRefs(prefix: string, there: ReadonlyMap<RefName, Oid>): Map<string, RefName[]> {
  const nested = new Map<string, RefName[]>();
  for (const ref of there.keys()) {
    if (!ref.startsWith(prefix)) continue;
    const slash = ref.indexOf('/', prefix.length);
    if (slash < 0) continue;
    const name = ref.slice(prefix.length, slash);
    nested.set(name, [...(nested.get(name) ?? []), ref]);
  }
  return nested;
}

async function knownHandles({ branches }: MeshContext): Promise<ReadonlySet<string>> {
  return new Set<string>([branches.own, ...(await branches.allAccepted()).map(({ handle }) => handle)]);
}

/** Refs under the mesh's prefix that are no machine's and not the charter; null where there are none. */
export function oddRefs(prefix: string, there: ReadonlyMap<RefName, Oid>): OddRefs | null {
  const odd = [...there.keys()].filter(
    (ref) => ref.startsWith(prefix) && ref !== charterRef(prefix) && handleOfRef(prefix, ref) === null,
  );
  if (odd.length === 0) return null;
  return { count: odd.length, first: odd.slice(0, maxNamed).map((ref) => visibleText(ref, { maxLength: 120 })) };
}
