import type { Handle, Oid } from './ids.js';
import type { RosterRecord } from './records.js';

/** Who counts, worked out from what the machines' branches state. Keys are OpenSSH lines without a comment. */

/** Up to where a revoked machine's branch is believed, and who says so. */
export interface Cut {
  seq: number;
  commit: Oid;
  by: Handle;
}

/** A machine as far as its branch is believed: at its tip, or at its {@link Cut}. */
export interface StatingMachine {
  handle: Handle;
  /** All keys that it had, each proven by the one before; the current one last. */
  keys: readonly string[];
  statements: readonly RosterRecord[];
}

export interface RosterFacts {
  policy: 'open' | 'roster';
  /** Whose word counts under `open`. */
  own: Handle;
  /** By the charter; null where that cannot be read, and then nobody is a member. */
  founder: { handle: Handle; key: string } | null;
  machines: readonly StatingMachine[];
  /** What was found before, with which the machines were read. It is never lifted again. */
  cuts: ReadonlyMap<Handle, Cut>;
}

export interface Admission {
  key: string;
  /** Null for the founder, whom the charter admits. */
  by: Handle | null;
}

export interface Ruling {
  /** Keys that are admitted, by handle, whether a branch of that machine is here or not. */
  admitted: ReadonlyMap<Handle, readonly Admission[]>;
  cuts: ReadonlyMap<Handle, Cut>;
  /** False where a cut is new: the machines have to be read again with it. */
  settled: boolean;
}

/**
 * One step towards the standing of all machines; to be repeated with its cuts until it is `settled`. Under `roster` a
 * statement counts where its author is a member: the founder, or whoever a member admitted. Under `open` only one's own
 * statements count.
 *
 * Members speak in the order of their nearness to the founder, then of their handles, and one speaks at a time: of two
 * that revoke each other, the one who speaks first stays. Cuts only ever get deeper, so this ends.
 */
export function ruleOn(facts: RosterFacts): Ruling {
  const { admitted, speakers } = admissions(facts);
  for (const speaker of speakers) {
    const cuts = new Map(facts.cuts);
    for (const { handle, through } of speaker.statements) {
      if (through === undefined || handle === speaker.handle) continue;
      const before = cuts.get(handle);
      if (before === undefined || isDeeper(through, before)) cuts.set(handle, { ...through, by: speaker.handle });
    }
    if (!sameCuts(cuts, facts.cuts)) return { admitted, cuts, settled: false };
  }
  return { admitted, cuts: facts.cuts, settled: true };
}

/** The lower of two wins, and of two at one height the lower name: any order would do, it must be the same everywhere. */
function isDeeper(one: Pick<Cut, 'seq' | 'commit'>, other: Pick<Cut, 'seq' | 'commit'>): boolean {
  return one.seq < other.seq || (one.seq === other.seq && one.commit < other.commit);
}

const sameCuts = (one: ReadonlyMap<Handle, Cut>, other: ReadonlyMap<Handle, Cut>): boolean =>
  one.size === other.size &&
  [...one].every(([handle, cut]) => {
    const same = other.get(handle);
    return same?.seq === cut.seq && same.commit === cut.commit;
  });

function admissions({ policy, own, founder, machines }: RosterFacts): {
  admitted: ReadonlyMap<Handle, readonly Admission[]>;
  speakers: readonly StatingMachine[];
} {
  const known = new Map(machines.map((machine) => [machine.handle, machine]));
  const admitted = new Map<Handle, Admission[]>();
  const admit = (handle: Handle, admission: Admission): void => {
    const before = admitted.get(handle) ?? [];
    if (!before.some(({ key }) => key === admission.key)) admitted.set(handle, [...before, admission]);
  };
  if (founder !== null) admit(founder.handle, { key: founder.key, by: null });
  const listen = (speaker: StatingMachine): void => {
    // Whoever revokes a machine vouches for it up to the commit that it names: the one file says both.
    for (const { handle, key } of speaker.statements) admit(handle, { key, by: speaker.handle });
  };
  if (policy === 'open') {
    const self = known.get(own);
    if (self !== undefined) listen(self);
    return { admitted, speakers: self === undefined ? [] : [self] };
  }
  const speakers: StatingMachine[] = [];
  for (;;) {
    const next = [...admitted.keys()]
      .map((handle) => known.get(handle))
      .filter((machine) => machine !== undefined)
      .filter((machine) => !speakers.includes(machine) && hasAdmittedKey(admitted, machine))
      .sort((a, b) => (a.handle < b.handle ? -1 : 1));
    if (next.length === 0) return { admitted, speakers };
    for (const speaker of next) listen(speaker);
    speakers.push(...next);
  }
}

/** Where one of a machine's keys was admitted, it is that machine: it went on to its later keys by itself. */
function hasAdmittedKey(
  admitted: Ruling['admitted'],
  { handle, keys }: Pick<StatingMachine, 'handle' | 'keys'>,
): boolean {
  return admissionOf({ admitted }, handle, keys) !== null;
}

/** By whom a machine with these keys counts as admitted; null where it does not. */
export function admissionOf(
  { admitted }: Pick<Ruling, 'admitted'>,
  handle: Handle,
  keys: readonly string[],
): Admission | null {
  return admitted.get(handle)?.find(({ key }) => keys.includes(key)) ?? null;
}
