import { inThePast } from './history.js';
import { addResident, quietRemote, type Resident } from './resident.js';

/** Its machines, each with its store under that name. */
export const longMeshHandles: readonly string[] = ['studio', 'laptop', 'server'];
const secondsBetweenMessages = 60;
/** How many messages lie between two exchanges of all machines: some four hours. */
const messagesARound = 250;

const agentOf = (handle: string): string => `agent-${handle}`;

/**
 * Makes a mesh of three machines through which so many messages went, one a minute, all by the product's own calls with
 * this process's clock set back: most are read and acknowledged within hours, a tenth is for a machine whose agent never
 * reads it, a tenth is for all. Leaves the repository between them, `hub.git`, and the stores in `root`.
 */
export async function makeLongMesh(root: string, messages: number, onProgress: (done: number) => void): Promise<void> {
  const remote = quietRemote(root);
  const members: Resident[] = [];
  await inThePast(messages + 1, messages * secondsBetweenMessages * 1000, async (next) => {
    for (const handle of longMeshHandles) {
      members.push(await addResident(root, { remote, handle, isFirst: members.length === 0 }));
    }
    for (let n = 0; n < messages; n++) {
      next();
      if (n % messagesARound === 0) await exchange(members);
      await sendOne(members, n);
      if (n % 1_000 === 999) onProgress(n + 1);
    }
    await exchange(members);
  });
  // All that is due by now is done, as workers would have done it long ago.
  for (let pass = 0; pass < 3; pass++) for (const { mesh } of members) await mesh.syncNow();
  for (const { mesh } of members) await mesh.close();
}

async function sendOne(members: readonly Resident[], n: number): Promise<void> {
  const from = members[n % members.length];
  const to = members[(n + 1) % members.length];
  if (from === undefined || to === undefined) throw new Error('three members were made');
  const whom =
    n % 10 === 0
      ? { to: '*', ttl_seconds: 86_400 }
      : n % 10 === 1
        ? { to: to.handle, ttl_seconds: 7_200 }
        : { to: to.handle, to_agent: agentOf(to.handle) };
  const payload = { reason: 'release 2.1', repo: 'shop', branch: `feature/${n}`, n };
  await from.mesh.api.send({ ...whom, msg_type: 'note', from_agent: agentOf(from.handle), payload }, from);
}

/** Everyone checks in, hears the others, acknowledges what is for its agent, and says so. */
async function exchange(members: readonly Resident[]): Promise<void> {
  for (const { handle, mesh, connection } of members) {
    const input = { agent_id: agentOf(handle), ttl_seconds: 86_400, confirm: true };
    await mesh.api.checkin(input, { connection });
    await mesh.syncNow();
  }
  for (const member of members) {
    await member.mesh.syncNow();
    await acknowledge(member);
    await member.mesh.syncNow();
  }
}

async function acknowledge({ handle, mesh, connection }: Resident): Promise<void> {
  const agent_id = agentOf(handle);
  for (;;) {
    const { messages, remaining } = await mesh.api.inbox({ agent_id, limit: 100 }, { connection });
    const ids = messages.filter(({ directed }) => directed).map(({ message_id: id }) => id);
    if (ids.length > 0) await mesh.api.ack({ agent_id, message_ids: ids, confirm: true }, { connection });
    // What nobody acknowledges stays in the inbox until it expires.
    if (ids.length === 0 || remaining === 0) return;
  }
}
