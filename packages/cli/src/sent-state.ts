import type { Connection, MessageState, SendResult } from '@git-mesh/core';
import type { OpenMesh } from '@git-mesh/sync';

const lookBack = 20;

/**
 * A message's state after the exchange, which may have taken it further than the send itself did. Where that cannot be
 * told any more the send's own holds: the message is stored, and no failure to look may say otherwise.
 */
export async function sentState(mesh: OpenMesh, connection: Connection, sent: SendResult): Promise<MessageState> {
  if (sent.state !== 'queued') return sent.state;
  try {
    const { messages } = await mesh.api.sent({ limit: lookBack }, { connection });
    return messages.find(({ id }) => id === sent.id)?.state ?? sent.state;
  } catch (error) {
    const { MeshError, systemFailure } = await import('@git-mesh/core');
    if (error instanceof MeshError || systemFailure(error) !== null) return sent.state;
    throw error;
  }
}
