import type { Handle } from '../domain/ids.js';
import { keysOf } from '../domain/key-chain.js';
import type { KeyView, KeysResult } from '../domain/membership-results.js';
import type { MachineRecord } from '../domain/records.js';
import { keyFingerprint } from '../store/public-key.js';
import type { MeshContext } from './context.js';
import { fingerprintOrNull } from './fingerprint-or-null.js';
import { joinRequests } from './requests.js';
import { verifiedBy } from './standing.js';

/** The keys of all machines that are known here, those that wait to be admitted among them. */
export async function keys(ctx: MeshContext): Promise<KeysResult> {
  const { store, branches } = ctx;
  const { founder } = await branches.roster();
  const signers = new Map<string, { handle: Handle; key: string }>();
  const sign = (handle: Handle, lines: readonly string[]): void => {
    for (const key of lines) signers.set(`${handle} ${key}`, { handle, key });
  };
  const views: KeyView[] = [];
  for (const branch of await branches.allAccepted()) {
    // What is past the commit named in a revocation may name any key.
    const { machine, handle } = (await branches.get(branch.handle)) ?? branch;
    if (machine === null) continue;
    const view = await keyView(ctx, handle, machine);
    if (view === null) continue;
    views.push(view);
    if (view.standing !== 'waiting' || handle === branches.own) sign(handle, keysOf(machine));
  }
  // The charter is signed with it, whatever became of the founder's machine.
  if (founder !== null) sign(founder.handle, [founder.key]);
  for (const { handle, machine } of await joinRequests(store)) {
    if ((await branches.accepted(handle)) !== null) continue;
    const view = await keyView(ctx, handle, machine);
    if (view !== null) views.push(view);
  }
  return {
    machine: branches.own,
    policy: store.config.policy,
    keys: views.sort((a, b) => (a.machine < b.machine ? -1 : 1)),
    allowed_signers: [...signers.values()]
      .map(({ handle, key }) => `${handle}@mesh.invalid namespaces="git" ${key}\n`)
      .sort()
      .join(''),
  };
}

/** Null for a machine with a weak key, of which nothing is believed. */
async function keyView(
  { branches, store }: MeshContext,
  handle: Handle,
  machine: MachineRecord,
): Promise<KeyView | null> {
  const known = keysOf(machine);
  const current = known.at(-1) ?? machine.key;
  if (fingerprintOrNull(current) === null) return null;
  const found = await branches.standing(handle, known);
  // Under the policy open nobody admits a machine to itself.
  const countsByItself = handle === branches.own && found.by === handle;
  const hasLeft = machine.left_at !== undefined && found.standing !== 'revoked';
  const pin = (await store.local.pins()).get(handle);
  return {
    machine: handle,
    key: keyFingerprint(current),
    public_key: current,
    standing: hasLeft ? 'left' : countsByItself ? 'own' : found.standing,
    verified: handle === branches.own ? 'signed' : verifiedBy(found, { keys: known, pin }),
    by: hasLeft || countsByItself ? null : found.by,
    previous: known.slice(0, -1).map((key) => keyFingerprint(key)),
  };
}
