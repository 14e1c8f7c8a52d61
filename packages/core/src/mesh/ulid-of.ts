import type { Ulid } from '../domain/ids.js';
import { MeshError } from '../errors.js';
import type { MeshContext } from './context.js';

/** The ULID of a message that is named by it or by its number here. @throws MeshError `unknown_message` for a number that none has. */
export async function ulidOf(ctx: MeshContext, id: Ulid | number): Promise<Ulid> {
  if (typeof id !== 'number') return id;
  const entry = (await ctx.store.journal.view()).byNumber(id);
  if (entry !== undefined) return entry.id;
  throw new MeshError('unknown_message', `This machine has no message number ${id}: take the ULID id of the message.`, {
    data: { message_id: id },
  });
}
