import type { CallOptions } from '../api.js';
import { fromIso, toIso } from '../domain/ids.js';
import type { IsoTime, Oid } from '../domain/ids.js';
import { parseInviteInput } from '../domain/inputs.js';
import { encodeInviteCode } from '../domain/invite-code.js';
import { charterRef } from '../domain/layout.js';
import type { InviteResult } from '../domain/membership-results.js';
import { sameRemoteName } from '../domain/remote-name.js';
import { visibleText } from '../domain/visible-text.js';
import { MeshError } from '../errors.js';
import { keyFingerprint } from '../store/public-key.js';
import type { Store } from '../store/store.js';
import { noteActivityAlone } from './activity.js';
import type { MeshContext } from './context.js';
import { requireMember } from './membership-rules.js';
import { stillOfUse } from './invitations.js';
import { locked, nowIso } from './write.js';

const lifeMs = 15 * 60_000;
const idBytes = 12;
const secretBytes = 32;

/**
 * Makes an invitation that one machine can join by, within 15 minutes of this machine's clock. It stands in local state
 * only; this machine's next rounds admit whoever proves to have it.
 *
 * @throws MeshError `forbidden` (no member), `not_found` (no remote, or none of that name), `machine_left`, `store_copied`, `handle_conflict`
 */
export async function invite(ctx: MeshContext, input: unknown, call: CallOptions): Promise<InviteResult> {
  const { remote: name, confirm } = parseInviteInput(input);
  await requireMember(ctx, 'invite a machine');
  const { config, signer } = ctx.store;
  const charter = await charterToJoin(ctx.store);
  const { url, name: chosen } = chooseRemote(await ctx.store.refreshRemotes(), name);
  const about = { machine: config.handle, key: keyFingerprint(signer.publicKey), mesh: config.mesh };
  if (!confirm) {
    const next =
      `Nothing has changed. Call agent_mesh_invite again with confirm: true to make an invitation to the repository at ` +
      `remote ${chosen}: whoever has its code can join once, within ${lifeMs / 60_000} minutes.`;
    return { preview: true, ...about, code: null, expires_at: null, next };
  }
  await noteActivityAlone(ctx, call, null);
  const bytes = (count: number): string => Buffer.from(ctx.random(count)).toString('base64url');
  const made = { id: bytes(idBytes), secret: bytes(secretBytes) };
  const expires = await locked(ctx, async ({ branch }): Promise<IsoTime> => {
    const created = nowIso(ctx);
    const expires_at = toIso(fromIso(created) + lifeMs);
    const before = await stillOfUse(ctx, branch, await ctx.store.local.invitations());
    await ctx.store.local.putInvitations([...before, { ...made, created_at: created, expires_at }]);
    return expires_at;
  });
  const code = encodeInviteCode({
    url: withoutCredentials(url),
    mesh: about.mesh.id,
    charter,
    name: about.mesh.name,
    by: about.machine,
    key: about.key,
    ...made,
    expires,
  });
  const next =
    'Give the code to nobody but the one who is to join, who runs git mesh join with it. This machine admits the one ' +
    `that does, once it synchronises (a worker or git mesh sync) before ${expires}; where several do, none.`;
  return { preview: false, ...about, code, expires_at: expires, next };
}

/** The charter that a joiner must find. @throws MeshError `not_found` where this store has lost its copy */
async function charterToJoin({ config, refs }: Store): Promise<Oid> {
  const charter = await refs.read(charterRef(config.ref_prefix));
  if (charter !== null) return charter;
  throw new MeshError(
    'not_found',
    'This store has no copy of the charter, which an invitation must name: git mesh sync fetches it again.',
  );
}

type ConfiguredRemote = MeshContext['store']['config']['remotes'][number];

function chooseRemote(remotes: readonly ConfiguredRemote[], name: string | null): ConfiguredRemote {
  const chosen =
    name === null
      ? (remotes.find((remote) => remote.name === 'origin') ?? remotes[0])
      : remotes.find((remote) => sameRemoteName(remote.name, name));
  if (chosen !== undefined) return chosen;
  if (remotes.length === 0) {
    throw new MeshError(
      'not_found',
      'This machine has no remote that an invitation could lead to: add one with git mesh remote add NAME URL, or carry ' +
        'the mesh by hand (git mesh export), in which there are no invitations.',
      { data: { known_remotes: [] } },
    );
  }
  const known = remotes.map((remote) => remote.name);
  throw new MeshError(
    'not_found',
    `This machine has no remote "${visibleText(name ?? '', { maxLength: 60 })}". Its remotes: ${known.join(', ')}.`,
    { data: { known_remotes: known } },
  );
}

/** The user of an http(s) URL is one's own; that of an ssh URL belongs to the place. Passwords are in neither, as stored. */
function withoutCredentials(url: string): string {
  return url.replace(/^(https?:\/\/)[^/?#]*@/i, '$1').replace(/^([a-z+]+:\/\/[^/@:]*):[^/@]*@/i, '$1@');
}
