import type { Handle, Oid } from '../domain/ids.js';
import { isHandle } from '../domain/ids.js';
import { remoteRefPrefix } from '../domain/layout.js';
import type { MachineRecord } from '../domain/records.js';
import { MeshError } from '../errors.js';
import { verifySshSignature } from '../store/ssh-signature.js';
import type { Store } from '../store/store.js';
import { machineAt } from './machine-at.js';

/** A machine that asks to be admitted: its branch as a fetch brought it, signed by the key that it states. */
export interface JoinRequest {
  handle: Handle;
  tip: Oid;
  machine: MachineRecord;
}

/** What stands under refs/remotes of one machine or of all others, from whatever remote; one for each key. */
export async function joinRequests(store: Store, only?: Handle): Promise<JoinRequest[]> {
  const found = new Map<string, JoinRequest>();
  for (const { handle, tip } of await fetchedTips(store)) {
    if (handle === store.config.handle || (only !== undefined && handle !== only)) continue;
    const machine = await claimedMachine(store, handle, tip);
    if (machine !== null) found.set(`${handle} ${machine.key}`, { handle, tip, machine });
  }
  return [...found.values()];
}

/** Every machine's branch under refs/remotes, whichever remote it came from (an imported bundle too). */
export async function fetchedTips({ config, refs }: Store): Promise<{ handle: Handle; tip: Oid }[]> {
  const marker = remoteRefPrefix('', config.ref_prefix).slice('refs/remotes/'.length);
  const tips: { handle: Handle; tip: Oid }[] = [];
  for (const { ref, oid } of await refs.list('refs/remotes/')) {
    const at = ref.lastIndexOf(marker);
    const handle = ref.slice(at + marker.length);
    if (at > 0 && isHandle(handle)) tips.push({ handle, tip: oid });
  }
  return tips;
}

async function claimedMachine(store: Store, handle: Handle, tip: Oid): Promise<MachineRecord | null> {
  try {
    const commit = await store.objects.commit(tip);
    const machine = await machineAt(store.objects, commit.tree);
    if (machine?.handle !== handle || machine.mesh !== store.config.mesh.id || commit.gpgsig === null) return null;
    const signed = { armoured: commit.gpgsig, data: commit.signedBytes, publicKey: machine.key };
    return verifySshSignature(signed) ? machine : null;
  } catch (error) {
    // The checks of the fetch name it.
    if (error instanceof MeshError) return null;
    throw error;
  }
}
