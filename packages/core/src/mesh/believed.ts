import { keysOf } from '../domain/key-chain.js';
import { ruleOn } from '../domain/roster.js';
import type { Cut, Ruling, RosterFacts, StatingMachine } from '../domain/roster.js';
import { MeshError } from '../errors.js';
import type { Objects } from '../store/ports.js';
import { isAncestor } from './ancestry.js';
import type { Branch } from './branches.js';
import type { StatementFiles } from './statement-files.js';

/** What a ruling is worked out from: accepted branches at their tips, and how one is read at an earlier commit. */
export interface RulingSource extends Pick<RosterFacts, 'policy' | 'own' | 'founder'> {
  branches: readonly Branch[];
  statements: StatementFiles;
  cutBack: (branch: Branch, cut: Cut) => Promise<Branch | null>;
}

/** Who is admitted and who is revoked, by what the branches state as far as each is believed. */
export async function readRuling(source: RulingSource): Promise<Ruling> {
  const { policy, own, founder } = source;
  let cuts: RosterFacts['cuts'] = new Map();
  for (;;) {
    const machines: StatingMachine[] = [];
    for (const branch of source.branches) machines.push(await stating(source, branch, cuts.get(branch.handle)));
    const ruling = ruleOn({ policy, own, founder, machines, cuts });
    if (ruling.settled) return ruling;
    cuts = ruling.cuts;
  }
}

async function stating(source: RulingSource, branch: Branch, cut: Cut | undefined): Promise<StatingMachine> {
  const believed = cut === undefined ? branch : await source.cutBack(branch, cut);
  const { machine } = believed ?? branch;
  return {
    handle: branch.handle,
    keys: machine === null ? [] : keysOf(machine),
    statements: believed === null ? [] : await source.statements.roster(believed),
  };
}

/** Where a branch that stands at `branch` is believed up to `cut`; null where that commit is not on it, as far as is known here. */
export async function commitAtCut(objects: Objects, branch: Branch, cut: Cut): Promise<Cut['commit'] | null> {
  if (branch.tip === cut.commit || branch.seq < cut.seq) return branch.tip;
  try {
    if (branch.seq === cut.seq || !(await objects.has(cut.commit))) return null;
    return (await isAncestor(objects, cut.commit, branch.tip)) ? cut.commit : null;
  } catch (error) {
    // A history that cannot be walked proves nothing.
    if (error instanceof MeshError) return null;
    throw error;
  }
}
