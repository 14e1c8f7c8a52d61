import { clearsFreeze, freezesInForce } from '../domain/freeze.js';
import type { JournalView, MessageEntry } from '../store/ports.js';
import type { MeshContext } from './context.js';
import { judgedFreezes } from './machine-clocks.js';

/**
 * The warning where a message just sent is a freeze-clear that ends no freeze in force; else null. It is sent all the
 * same, since a clear that names a freeze may come before that freeze.
 */
export async function clearsNothing(
  ctx: MeshContext,
  journal: JournalView,
  clear: MessageEntry,
): Promise<string | null> {
  if (clear.type !== 'freeze-clear') return null;
  const own = ctx.branches.own;
  const messages = (await judgedFreezes(ctx, journal)).filter(({ n }) => n < clear.n);
  const freezes = messages.filter(({ type }) => type === 'freeze');
  // A freeze holds on the machines that it was sent to, and a clear ends it where the clear goes.
  const elsewhere = freezes.flatMap(({ to }) => (to === '*' ? [] : [to]));
  const places = clear.to === '*' ? [own, ...elsewhere] : [clear.to];
  const held = new Set(
    places.flatMap((place) => freezesInForce(messages, ctx.clock.now(), place).map((freeze) => freeze.id)),
  );
  if (freezes.some((freeze) => held.has(freeze.id) && clearsFreeze(clear, freeze))) return null;
  const where = clear.to === '*' || clear.to === own ? 'here' : `on ${clear.to}, as far as is known here,`;
  return (
    `No freeze in force ${where} matches; this freeze-clear ends nothing now. It ends the freeze that in_reply_to names, ` +
    'or earlier ones with the same payload.repo: agents_list shows the freezes in force.'
  );
}
