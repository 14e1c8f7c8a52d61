import type { Oid } from '../domain/ids.js';
import { brokenLink, keysOf } from '../domain/key-chain.js';
import type { MachineRecord } from '../domain/records.js';
import type { Problem } from '../domain/results.js';
import { MeshError } from '../errors.js';
import { keyFingerprint } from '../store/public-key.js';
import { verifyBytes } from '../store/raw-signature.js';
import type { Store } from '../store/store.js';
import { charterConflicts } from './charter-conflicts.js';
import type { MeshContext } from './context.js';
import { fingerprintOrNull } from './fingerprint-or-null.js';
import { contestedInvitations } from './invitations.js';
import { ownStanding } from './membership-rules.js';
import { machineAt } from './machine-at.js';
import { fetchedTips } from './requests.js';
import { keysOfBranch } from './standing.js';
import type { KeyConflict } from './standing.js';
import { usedBy } from './used-invitation.js';

/** What is wrong with who counts: this machine itself, keys that machines saw differently, revocations elsewhere. */
export async function examineMembership(ctx: MeshContext): Promise<Problem[]> {
  return [
    ...(await ownProblems(ctx)),
    ...(await contestedInvitations(ctx)),
    ...(await charterConflicts(ctx.store, ctx.branches)),
    ...(await conflicts(ctx)),
    ...(await revokedElsewhere(ctx)),
  ];
}

/** Who believes this machine no further, as far as it is known here. */
export async function ownRevocations(ctx: MeshContext): Promise<Problem[]> {
  const own = await ownProblems(ctx);
  const elsewhere = await revokedElsewhere(ctx);
  return [
    ...own.filter(({ kind }) => kind === 'revoked'),
    ...elsewhere.filter(({ machine }) => machine === ctx.branches.own),
  ];
}

async function ownProblems(ctx: MeshContext): Promise<Problem[]> {
  const machine = ctx.branches.own;
  const { standing, by } = await ownStanding(ctx);
  const key = keyFingerprint(ctx.store.signer.publicKey);
  if (standing === 'waiting') {
    const invite = (await ctx.branches.ownBranch()).machine?.invite;
    const used = invite === undefined ? null : await usedBy(ctx, invite);
    const byInvitation =
      used === null ? '' : `. The invitation by which it joined admitted ${used}, and admits nobody else`;
    const message = `this machine waits to be admitted: nobody reads what it writes until then. Its key is ${key}${byInvitation}`;
    const fix = `have a member run git mesh admit ${machine} after comparing the fingerprint ${key}`;
    return [{ kind: 'not_admitted', machine, message, fix }];
  }
  if (standing !== 'revoked') return [];
  const message = `this machine was revoked by ${by ?? 'a member'}: nobody reads what it writes from then on`;
  const fix = `ask whoever runs ${by ?? 'that member'}; it can take that back with git mesh admit ${machine}, or join anew under another handle`;
  return [{ kind: 'revoked', machine, message, fix }];
}

async function conflicts(ctx: MeshContext): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const [machine, { key, pinned }] of await ctx.branches.conflicts()) {
    const branch = await ctx.branches.get(machine);
    if (branch === null) continue;
    const { standing } = await ctx.branches.standing(machine, keysOfBranch(branch));
    if (standing !== 'conflict' && machine !== ctx.branches.own) continue;
    if (machine === ctx.branches.own && (await wasRotatedElsewhere(ctx, pinned))) {
      problems.push({
        kind: 'key_conflict',
        machine,
        message: `this store is a copy from before a rotation: the key of ${machine} was rotated in another copy of it, which the other machines know by ${pinned[0]?.key ?? 'a new key'}, while this one still has ${key}`,
        fix: `go on with the store that rotated the key, and with this one no more: put a later backup (mesh/key included) in its place, or join from here under another handle`,
      });
      continue;
    }
    const others = pinned.map((one) => `${one.by} pinned ${one.key}`).join(', ');
    problems.push({
      kind: 'key_conflict',
      machine,
      message: `machines know ${machine} by different keys: here it is ${key}, and ${others}`,
      fix:
        machine === ctx.branches.own
          ? `somebody else writes as ${machine} where those machines look: compare the fingerprints with whoever runs them, and look at their remotes`
          : `ask whoever runs ${machine} for its fingerprint (git mesh keys there): where it is ${key}, git mesh admit ${machine} says so here; where it is not, git mesh revoke ${machine}`,
    });
  }
  return problems;
}

/** Whether a remote has this very store's branch with a key that the one here signed in, and that others pinned. */
async function wasRotatedElsewhere({ branches, store }: MeshContext, pinned: KeyConflict['pinned']): Promise<boolean> {
  const fetched = (await fetchedTips(store)).filter(({ handle }) => handle === branches.own);
  // What was found on the own branch and is not taken in is kept there.
  const kept = await store.refs.list(`refs/quarantine/${branches.own}/`);
  for (const tip of [...fetched.map(({ tip: oid }) => oid), ...kept.map(({ oid }) => oid)]) {
    if (!(await store.objects.has(tip))) continue;
    const machine = await machineAtOrNull(store, tip);
    if (machine?.store !== store.config.store || brokenLink(machine, verifyBytes) !== null) continue;
    const keys = keysOf(machine);
    const later = keys.slice(keys.indexOf(store.signer.publicKey) + 1).map((key) => fingerprintOrNull(key));
    if (keys.includes(store.signer.publicKey) && pinned.some(({ key }) => later.includes(key))) return true;
  }
  return false;
}

async function machineAtOrNull({ objects }: Store, tip: Oid): Promise<MachineRecord | null> {
  try {
    return await machineAt(objects, (await objects.commit(tip)).tree);
  } catch (error) {
    // What cannot be read proves nothing; the fetch names it.
    if (error instanceof MeshError) return null;
    throw error;
  }
}

/** Under `open` a revocation binds where it was made; others are told of it. */
async function revokedElsewhere(ctx: MeshContext): Promise<Problem[]> {
  const { branches, store } = ctx;
  if (store.config.policy === 'roster') return [];
  const all = await branches.all();
  const own = await branches.statements.roster(await branches.ownBranch());
  const problems: Problem[] = [];
  for (const author of all) {
    // One that is revoked here says nothing here any more.
    if (author.handle === branches.own || author.revoked !== undefined) continue;
    for (const { handle, key, through } of await branches.statements.roster(author)) {
      const about = all.find((branch) => branch.handle === handle);
      if (through === undefined || about === undefined || own.some((said) => said.handle === handle)) continue;
      const itself = handle === branches.own;
      problems.push({
        kind: 'revoked_elsewhere',
        machine: handle,
        message: itself
          ? `${author.handle} revoked this machine: it reads nothing of it past commit ${through.seq}`
          : `${author.handle} revoked ${handle} (key ${fingerprintOrNull(key) ?? 'unknown'}) through commit ${through.seq}; here it still counts`,
        fix: itself
          ? `ask whoever runs ${author.handle}, who can take it back with git mesh admit ${handle}`
          : `ask whoever runs ${author.handle} why: git mesh revoke ${handle} does the same here, git mesh admit ${handle} says that it counts here`,
      });
    }
  }
  return problems;
}
