import type { Cut } from '../domain/roster.js';
import { MeshError } from '../errors.js';
import type { MeshContext } from './context.js';
import { ownStanding } from './membership-rules.js';

/** Of an addressee whose branch is not believed any more. */
export function machineRevoked(to: string, { by }: Cut): MeshError {
  return new MeshError(
    'machine_not_found',
    `${to} was revoked by ${by}, so nothing was sent: nobody there counts in this mesh any more. agents_list shows who does.`,
    { data: { to, revoked_by: by } },
  );
}

/** The warning for a sender whose own machine does not count; null where it does. */
export async function unheard(ctx: MeshContext): Promise<string | null> {
  const { standing, by } = await ownStanding(ctx);
  if (standing === 'waiting') {
    return `This machine waits to be admitted: nobody reads this until a member runs \`git mesh admit ${ctx.branches.own}\`.`;
  }
  return standing === 'revoked' ? `This machine was revoked by ${by ?? 'a member'}: nobody reads this.` : null;
}
