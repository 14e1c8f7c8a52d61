import { silentLogger } from '@git-mesh/core';
import { openMesh } from '@git-mesh/sync';

// A process that sends to its own machine until it has sent enough or is killed; started by the tests beside it, from
// the build. It prints the id of a message once the send has returned, and nothing else.

const [dir, label = 'sender', count = '1000000'] = process.argv.slice(2);
if (dir === undefined) throw new Error('usage: sender DIR [LABEL] [COUNT]');
const mesh = await openMesh({ dir, env: process.env, logger: silentLogger });
const connection = mesh.newConnection({ resident: true });
const { machine } = await mesh.api.agents({}, { connection });
for (let n = 0; n < Number(count); n++) {
  const sent = await mesh.api.send({ to: machine, msg_type: 'note', payload: { label, n } }, { connection });
  process.stdout.write(`${sent.id}\n`);
}
await mesh.close();
