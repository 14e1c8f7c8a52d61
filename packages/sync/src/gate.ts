import { MeshError, admissionOf, cutOf, isAncestor, keyFingerprint, keysOf, machineAt, seqOf } from '@git-mesh/core';
import type { Cut, Handle, MachineRecord, MeshContext, Objects, Oid, Roster } from '@git-mesh/core';
import type { Reject } from './verify.js';

/** How far a branch may come in by who its machine is in the mesh, whatever its commits are. */
export class Gate {
  readonly #mesh: MeshContext;
  readonly #roster: Roster | null;

  constructor(mesh: MeshContext, roster: Roster | null) {
    this.#mesh = mesh;
    this.#roster = roster;
  }

  /** Where the branch may move to at most; `beyond` says what is wrong where that is not its tip. */
  async end(
    handle: Handle,
    { accepted, tip }: { accepted: Oid | null; tip: Oid },
  ): Promise<{ to: Oid | null; beyond: Reject | null }> {
    const cut = this.#roster === null ? null : cutOf(this.#roster, handle);
    if (cut === null) return { to: tip, beyond: null };
    const { objects } = this.#mesh.store;
    try {
      const seq = seqOf(await objects.commit(tip));
      if (tip === cut.commit || seq === null || seq < cut.seq) return { to: tip, beyond: null };
      if ((await objects.has(cut.commit)) && (await isAncestor(objects, cut.commit, tip))) {
        const isThere = accepted !== null && (await isAtOrPast(objects, accepted, cut));
        return { to: isThere ? accepted : cut.commit, beyond: revoked(handle, cut) };
      }
    } catch (error) {
      // The checks of the branch itself say what is wrong with it.
      if (error instanceof MeshError) return { to: tip, beyond: null };
      throw error;
    }
    // A history that came in part shows only later where it is cut; until then nothing of it is read.
    return accepted === null ? { to: tip, beyond: null } : { to: accepted, beyond: revoked(handle, cut) };
  }

  /** Null where the machine counts under its key. */
  shut(handle: Handle, machine: MachineRecord): Reject | null {
    if (this.#roster?.policy !== 'roster') return null;
    const { ruling } = this.#roster;
    if (admissionOf(ruling, handle, keysOf(machine)) !== null) return null;
    const [other] = ruling.admitted.get(handle) ?? [];
    const key = keyFingerprint(machine.key);
    if (other === undefined) {
      return {
        kind: 'reject',
        problem: 'not_admitted',
        message: `it waits to be admitted; its key is ${key}`,
      };
    }
    return {
      kind: 'reject',
      problem: 'wrong_key',
      message: `its key is ${key}, and ${handle} was admitted with ${keyFingerprint(other.key)}`,
    };
  }
}

async function isAtOrPast(objects: Objects, accepted: Oid, cut: Cut): Promise<boolean> {
  return (seqOf(await objects.commit(accepted)) ?? 0) >= cut.seq;
}

const revoked = (handle: Handle, { seq, by }: Cut): Reject => ({
  kind: 'reject',
  problem: 'revoked',
  message: `${handle} was revoked by ${by}: its branch is read up to commit ${seq} and no further`,
});

/** The key that the accepted tip states; null where nothing was accepted. */
export async function acceptedKey(objects: Objects, accepted: Oid | null): Promise<string | null> {
  if (accepted === null) return null;
  try {
    return (await machineAt(objects, (await objects.commit(accepted)).tree))?.key ?? null;
  } catch (error) {
    // Then the next tip's own key binds, as at first sight.
    if (error instanceof MeshError) return null;
    throw error;
  }
}
