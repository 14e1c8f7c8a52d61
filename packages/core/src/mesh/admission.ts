import type { CallOptions } from '../api.js';
import { admitSummary } from '../domain/commit-summary.js';
import type { Handle } from '../domain/ids.js';
import { parseAdmitInput } from '../domain/inputs.js';
import { rosterPath } from '../domain/layout.js';
import type { AdmitResult } from '../domain/membership-results.js';
import { encodeRoster } from '../domain/roster-record.js';
import { MeshError } from '../errors.js';
import { keyFingerprint } from '../store/public-key.js';
import { noteActivity } from './activity.js';
import type { MeshContext } from './context.js';
import { keysOfBranch } from './standing.js';
import { machineUnknown, requireMember } from './membership-rules.js';
import { joinRequests } from './requests.js';
import { commitChange, eventOf, locked, nowIso } from './write.js';
import type { Locked } from './run.js';

/** How long a machine that is not known here is looked for. */
const lookupMs = 2_000;

/** Says that a machine counts: for all under the policy `roster`, for this machine under `open`. */
export async function admit(ctx: MeshContext, input: unknown, call: CallOptions): Promise<AdmitResult> {
  const wanted = parseAdmitInput(input);
  const { machine } = wanted;
  if (machine === ctx.branches.own) {
    throw new MeshError('invalid_argument', `${machine} is this machine, which another member has to admit.`);
  }
  if (wanted.confirm) await noteActivity(ctx, call, null);
  const key = await keyToAdmit(ctx, machine);
  const fingerprint = keyFingerprint(key);
  if (wanted.key !== undefined && wanted.key !== fingerprint) {
    throw new MeshError(
      'conflict',
      `The key of ${machine} is ${fingerprint} and not ${wanted.key}, so nothing was admitted: ask whoever runs ${machine} for its fingerprint.`,
      { data: { machine, key: fingerprint } },
    );
  }
  await requireAdmissible(ctx, machine);
  const result = { machine, key: fingerprint, already: await isAdmitted(ctx, machine, key) };
  if (!wanted.confirm) {
    const next = result.already
      ? `${machine} is admitted with this key already.`
      : `Nothing has changed. Compare the fingerprint with the one that ${machine} shows. Call agent_mesh_admit again with confirm: true to admit it.`;
    return { preview: true, ...result, next };
  }
  const done = await locked(ctx, async (state): Promise<AdmitResult> => {
    await requireAdmissible(ctx, machine);
    if (await isAdmitted(ctx, machine, key)) return { preview: false, ...result, already: true };
    await commitAdmission(ctx, state, { handle: machine, key });
    return { preview: false, ...result, already: false };
  });
  await takeIn(ctx, machine);
  return done;
}

/** What is called next finds the machine, with or without a network. It is admitted all the same where this fails. */
async function takeIn(ctx: MeshContext, machine: Handle): Promise<void> {
  try {
    await ctx.syncer.takeIn();
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    ctx.logger.warn(
      `${machine} is admitted, and its branch is taken in with the next synchronisation: ${error.message}`,
    );
  }
}

/** Commits this machine's word that `handle` counts with `key` (one OpenSSH line). Caller holds the lock. */
export async function commitAdmission(
  ctx: MeshContext,
  state: Locked,
  { handle, key }: { handle: Handle; key: string },
): Promise<Locked> {
  return commitChange(ctx, state, {
    edits: new Map([[rosterPath(handle), encodeRoster({ handle, key, admitted_at: nowIso(ctx) })]]),
    event: eventOf('roster', null, { summary: admitSummary(handle, keyFingerprint(key)) }),
  });
}

/** @throws MeshError `forbidden` where this machine is no member, `conflict` where another member revoked the machine. */
async function requireAdmissible(ctx: MeshContext, machine: Handle): Promise<void> {
  await requireMember(ctx, `admit ${machine}`);
  const cut = (await ctx.branches.roster()).ruling.cuts.get(machine);
  if (cut === undefined || cut.by === ctx.branches.own) return;
  throw new MeshError(
    'conflict',
    `${machine} was revoked by ${cut.by}, and only ${cut.by} can take that back: run \`git mesh admit ${machine}\` there, or let the machine join anew under another handle.`,
    { data: { machine, by: cut.by } },
  );
}

async function isAdmitted(ctx: MeshContext, machine: Handle, key: string): Promise<boolean> {
  const { standing } = await ctx.branches.standing(machine, [key]);
  return standing === 'admitted' || standing === 'founder';
}

/** The current key of a machine that is known here, or whose request is; looks for it on the remotes where it is not. */
async function keyToAdmit(ctx: MeshContext, machine: Handle): Promise<string> {
  const known = await knownKey(ctx, machine);
  if (known !== null) return known;
  await ctx.syncer.round({ deadlineMs: lookupMs });
  const found = await knownKey(ctx, machine);
  if (found !== null) return found;
  throw await machineUnknown(ctx, machine);
}

async function knownKey(ctx: MeshContext, machine: Handle): Promise<string | null> {
  const accepted = await ctx.branches.accepted(machine);
  const current = accepted === null ? undefined : keysOfBranch(accepted).at(-1);
  if (current !== undefined) return current;
  const [first, second] = await joinRequests(ctx.store, machine);
  if (first === undefined) return null;
  if (second === undefined) return first.machine.key;
  throw new MeshError(
    'conflict',
    `Two machines ask to be admitted as ${machine}, with the keys ${keyFingerprint(first.machine.key)} and ${keyFingerprint(second.machine.key)}: have the wrong branch deleted on its remote, or the right machine join under another handle.`,
    { data: { machine } },
  );
}
