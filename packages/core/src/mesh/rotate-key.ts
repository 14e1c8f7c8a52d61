import type { CallOptions } from '../api.js';
import { parseRotateKeyInput } from '../domain/inputs.js';
import { handoverBytes } from '../domain/key-chain.js';
import { machinePath } from '../domain/layout.js';
import { encodeMachine, maxPreviousKeys } from '../domain/machine.js';
import type { RotateKeyResult } from '../domain/membership-results.js';
import type { MachineRecord } from '../domain/records.js';
import { MeshError } from '../errors.js';
import { MachineKey } from '../store/keys.js';
import { keyFingerprint } from '../store/public-key.js';
import { noteActivity } from './activity.js';
import type { Branch } from './branches.js';
import type { MeshContext } from './context.js';
import { ownRevocations } from './examine-membership.js';
import { refuseLeft } from './left.js';
import { isDiskTrouble } from './disk-trouble.js';
import { commitChange, eventOf, locked } from './write.js';

/**
 * Gives this machine a new key: the old one signs a commit that states it, and nothing after that. The old private key is
 * gone then. A crash at any point leaves a store with the key that its branch states.
 */
export async function rotateKey(ctx: MeshContext, input: unknown, call: CallOptions): Promise<RotateKeyResult> {
  const { confirm } = parseRotateKeyInput(input);
  const machine = ctx.store.config.handle;
  if (!confirm) {
    const branch = await ctx.branches.ownBranch();
    refuseLeft(branch);
    const previous = keyFingerprint(rotatable(branch).key);
    const next = 'Nothing has changed. Call agent_mesh_rotate_key again with confirm: true to make a new key.';
    return { preview: true, machine, key: null, previous, ...(await revokedWarning(ctx)), next };
  }
  await noteActivity(ctx, call, null);
  const warning = await revokedWarning(ctx);
  return locked(ctx, async (state) => {
    const { config, key, random, signer } = ctx.store;
    const record = rotatable(state.branch);
    const made = MachineKey.generate(random);
    const [from, to] = [record.key, made.publicLine];
    const signed = signer.signBytes(handoverBytes({ mesh: config.mesh.id, handle: machine, from, to }));
    const handover = { key: from, signature: Buffer.from(signed).toString('base64') };
    const changed: MachineRecord = { ...record, key: to, previous: [...(record.previous ?? []), handover] };
    // Do not reorder: the key is on this disk before the branch states it, and signs only afterwards.
    await key.stage(made, { random, comment: `${machine}@mesh.invalid` });
    try {
      await commitChange(ctx, state, {
        edits: new Map([[machinePath, encodeMachine(changed)]]),
        event: eventOf('rotate-key', null, { summary: `${machine} to ${keyFingerprint(to)}` }),
      });
    } finally {
      await settleLater(ctx);
    }
    return { preview: false, machine, key: keyFingerprint(to), previous: keyFingerprint(from), ...warning };
  });
}

/** It is no harm: whoever takes the machine back finds the new key signed in by the old one. */
async function revokedWarning(ctx: MeshContext): Promise<{ warning?: string }> {
  const said = await ownRevocations(ctx);
  if (said.length === 0) return {};
  const warning = said
    .map(({ message, fix }) => `${message}. A new key changes nothing about that: ${fix ?? ''}`)
    .join('; ');
  return { warning };
}

/** Takes the key that the branch states now. What the disk keeps from being done here, the next one to write does. */
async function settleLater(ctx: MeshContext): Promise<void> {
  try {
    await ctx.store.key.settle((await ctx.branches.ownBranch()).machine?.key ?? null);
  } catch (error) {
    if (!isDiskTrouble(error)) throw error;
    ctx.logger.warn(`the new key could not be put in its place, which is made up for later: ${error.message}`);
  }
}

function rotatable({ handle, machine }: Branch): MachineRecord {
  if (machine === null) {
    throw new MeshError(
      'store_damaged',
      `machine.yaml of ${handle} cannot be read, so its key cannot be changed: git mesh doctor says what is wrong`,
    );
  }
  if ((machine.previous?.length ?? 0) < maxPreviousKeys) return machine;
  throw new MeshError(
    'conflict',
    `${handle} has had ${maxPreviousKeys + 1} keys, as many as a machine can have: leave, and join under another handle`,
  );
}
