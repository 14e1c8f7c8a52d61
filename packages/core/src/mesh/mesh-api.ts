import type { MeshApi } from '../api.js';
import type { Problem } from '../domain/results.js';
import { ack } from './ack.js';
import { admit } from './admission.js';
import { agents } from './agents.js';
import { checkin } from './checkin.js';
import { checkout } from './checkout.js';
import type { MeshContext } from './context.js';
import { doctor } from './doctor.js';
import { inbox } from './inbox.js';
import { maintain } from './maintain.js';
import { audit, log } from './log.js';
import { InTurn } from './in-turn.js';
import { mention } from './mention.js';
import { leave } from './leave.js';
import { rotateKey } from './rotate-key.js';
import { invite } from './invite.js';
import { keys } from './keys.js';
import { revoke } from './revocation.js';
import { send } from './send.js';
import { SendQueue } from './send-queue.js';
import { sent } from './sent.js';
import { status } from './status.js';
import { trace } from './trace.js';
import { unsend } from './unsend.js';
import type { SyncFacts } from './status.js';

/**
 * The use cases over an open store. `facts` tells what the sync side knows, without any network; `lookThere` looks into
 * the remotes that lie on a disk, for a moment, and tells what is wrong with them.
 */
export function meshApi(
  ctx: MeshContext,
  facts: () => Promise<SyncFacts>,
  lookThere: () => Promise<Problem[]>,
): MeshApi {
  const sends = new SendQueue(ctx);
  const memberships = new InTurn();
  return {
    checkin: (input, call) => checkin(ctx, input, call),
    agents: (input, call) => agents(ctx, input, call, facts),
    send: (input, call) => send(ctx, sends, input, call),
    inbox: (input, call) => inbox(ctx, input, call),
    ack: (input, call) => ack(ctx, input, call),
    sent: (input, call) => sent(ctx, input, call),
    checkout: (input, call) => checkout(ctx, input, call),
    unsend: (input) => unsend(ctx, input),
    trace: (input, options) => trace(ctx, input, options),
    mention: (input) => mention(ctx, input),
    leave: (input, call) => memberships.run(() => leave(ctx, input, call)),
    rotateKey: (input, call) => memberships.run(() => rotateKey(ctx, input, call)),
    invite: (input, call) => memberships.run(() => invite(ctx, input, call)),
    admit: (input, call) => memberships.run(() => admit(ctx, input, call)),
    revoke: (input, call) => memberships.run(() => revoke(ctx, input, call)),
    keys: () => keys(ctx),
    status: async () => status(ctx, await facts()),
    doctor: () => doctor(ctx, facts, lookThere),
    maintain: () => maintain(ctx),
    log: (input, options) => log(ctx, input, options),
    audit: (input, options) => audit(ctx, input, options),
  };
}
