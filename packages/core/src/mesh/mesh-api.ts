import type { MeshApi } from '../api.js';
import type { Problem } from '../domain/results.js';
import { ack } from './ack.js';
import { agents } from './agents.js';
import { checkin } from './checkin.js';
import { checkout } from './checkout.js';
import type { MeshContext } from './context.js';
import { doctor } from './doctor.js';
import { inbox } from './inbox.js';
import { log } from './log.js';
import { send } from './send.js';
import { sent } from './sent.js';
import { status } from './status.js';
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
  return {
    checkin: (input, call) => checkin(ctx, input, call),
    agents: (input, call) => agents(ctx, input, call),
    send: (input, call) => send(ctx, input, call),
    inbox: (input, call) => inbox(ctx, input, call),
    ack: (input, call) => ack(ctx, input, call),
    sent: (input, call) => sent(ctx, input, call),
    checkout: (input, call) => checkout(ctx, input, call),
    status: async () => status(ctx, await facts()),
    doctor: () => doctor(ctx, facts, lookThere),
    log: (input, options) => log(ctx, input, options),
  };
}
