import { keysOf, machineAt, readKeyFile } from '@git-mesh/core';
import type { MachineKey, MembershipResult, Store } from '@git-mesh/core';

/** The key that a person gave for a new machine. */
export interface GivenKey {
  /** Absent where none was given: a new one is made. */
  key?: MachineKey;
  warning: string | null;
}

/** @throws MeshError `invalid_argument` */
export async function givenKey(file: string | undefined): Promise<GivenKey> {
  return file === undefined ? { warning: null } : readKeyFile(file);
}

export function withWarning(result: MembershipResult, { warning }: GivenKey): MembershipResult {
  // One who came too late to found a mesh has joined it, with this warning already.
  if (warning === null || result.warning?.includes(warning) === true) return result;
  return { ...result, warning: result.warning === undefined ? warning : `${result.warning} ${warning}` };
}

/** All keys that a store's machine has had: whether it is the one that was meant can be asked after a rotation too. */
export async function keysOfStore(store: Store): Promise<readonly string[]> {
  const tip = await store.refs.read(store.branch);
  const machine = tip === null ? null : await machineAt(store.objects, (await store.objects.commit(tip)).tree);
  return machine === null ? [store.signer.publicKey] : keysOf(machine);
}
