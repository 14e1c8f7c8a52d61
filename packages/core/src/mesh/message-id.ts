import type { Ulid } from '../domain/ids.js';
import { MeshError } from '../errors.js';
import type { MeshContext } from './context.js';
import { recalled } from './recall.js';

/** The id of a message that is named by its number here, or by that. @throws MeshError `unknown_message` for a number that none has. */
export async function messageId(ctx: MeshContext, id: Ulid | number): Promise<Ulid> {
  if (typeof id !== 'number') return id;
  const entry = await recalled(ctx.store, await ctx.store.journal.view(), id);
  if (entry !== undefined) return entry.id;
  throw new MeshError('unknown_message', `This machine has no message number ${id}: take the ULID id of the message.`, {
    data: { message_id: id },
  });
}
