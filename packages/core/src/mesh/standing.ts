import type { Handle } from '../domain/ids.js';
import { keysOf } from '../domain/key-chain.js';
import type { Standing } from '../domain/membership-results.js';
import type { Verified } from '../domain/results.js';
import { admissionOf } from '../domain/roster.js';
import type { Cut, RosterFacts, Ruling } from '../domain/roster.js';
import type { Branch } from './branches.js';

/** Who counts in the mesh, as this machine sees it. */
export interface Roster extends Pick<RosterFacts, 'policy' | 'own' | 'founder'> {
  ruling: Ruling;
}

export interface MachineStanding {
  standing: Exclude<Standing, 'left' | 'own'>;
  /** Whose statement it follows from. */
  by: Handle | null;
}

/** Where a machine's key is named otherwise by what other machines pinned. */
export interface KeyConflict {
  /** The fingerprint of the key that its branch states. */
  key: string;
  pinned: { by: Handle; key: string }[];
}

export function cutOf({ ruling }: Roster, handle: Handle): Cut | null {
  return ruling.cuts.get(handle) ?? null;
}

/** The standing of a machine with these keys. `conflict` counts under `open` alone, and where nobody vouches for the key. */
export function standingOf(
  roster: Roster,
  { handle, keys, inConflict }: { handle: Handle; keys: readonly string[]; inConflict: boolean },
): MachineStanding {
  const { policy, own, ruling } = roster;
  const cut = cutOf(roster, handle);
  if (cut !== null) return { standing: 'revoked', by: cut.by };
  const admission = admissionOf(ruling, handle, keys);
  if (admission !== null) return { standing: admission.by === null ? 'founder' : 'admitted', by: admission.by };
  if (policy === 'roster') return { standing: 'waiting', by: null };
  if (handle === own) return { standing: 'admitted', by: own };
  return { standing: inConflict ? 'conflict' : 'first-seen', by: null };
}

export const keysOfBranch = ({ machine }: Pick<Branch, 'machine'>): readonly string[] =>
  machine === null ? [] : keysOf(machine);

/** What is proven about a machine other than this one. `pin` is the key that was pinned here. */
export function verifiedBy(
  { standing }: MachineStanding,
  { keys, pin }: { keys: readonly string[]; pin: string | undefined },
): Verified {
  switch (standing) {
    case 'founder':
    case 'admitted':
      return 'signed';
    case 'first-seen':
      return pin !== undefined && keys.includes(pin) ? 'first-seen' : 'unverified';
    case 'waiting':
    case 'conflict':
    case 'revoked':
      return 'unverified';
  }
}
