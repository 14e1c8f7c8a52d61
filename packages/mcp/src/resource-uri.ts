/** What a `mesh://` address names. */
export type MeshResource = { kind: 'agents' } | { kind: 'freezes' } | { kind: 'inbox'; agentId: string };

export const agentsUri = 'mesh://agents';
export const freezesUri = 'mesh://freezes';
export const inboxTemplate = 'mesh://inbox/{agent_id}';

/** As in the mesh's own rules; whatever else stands there names no resource. */
const agentIdShape = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Null for what names nothing here. Exact: no other spelling of an address is taken for it. */
export function parseResourceUri(uri: string): MeshResource | null {
  if (uri === agentsUri) return { kind: 'agents' };
  if (uri === freezesUri) return { kind: 'freezes' };
  const [, given] = /^mesh:\/\/inbox\/([^/?#]{1,200})$/.exec(uri) ?? [];
  const agentId = given === undefined ? null : decoded(given);
  return agentId !== null && agentIdShape.test(agentId) ? { kind: 'inbox', agentId } : null;
}

function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    // A lone percent sign: no address.
    return null;
  }
}
