import { join } from 'node:path';
import { type Connection, silentLogger } from '@git-mesh/core';
import { initMesh, joinMesh, type OpenMesh, openMesh } from '@git-mesh/sync';
import { cleanEnvironment } from '../environment.js';
import { bareRemote, stockGit } from '../stock-git.js';

/** Two machines in this process and the repository between them. */
export interface TwoMachines {
  remote: string;
  studio: Resident;
  laptop: Resident;
  close(): Promise<void>;
}

export interface Resident {
  handle: string;
  store: string;
  mesh: OpenMesh;
  connection: Connection;
}

export async function send(from: Resident, to: string, n: number): Promise<string> {
  const payload = { reason: 'release 2.1', repo: 'shop', branch: `feature/${n}`, n };
  const input = { to, msg_type: 'note', from_agent: 'bench', payload };
  return (await from.mesh.api.send(input, { connection: from.connection })).id;
}

/**
 * Runs `work` with this process's clock going from `spanMs` ago to now in `steps` equal steps, one a call of `next`.
 * Messages lie in a folder for each minute: a history that was written within one would be none that anyone has.
 */
export async function inThePast(
  steps: number,
  spanMs: number,
  work: (next: () => void) => Promise<void>,
): Promise<void> {
  const real = Date.now.bind(Date);
  let step = 0;
  Date.now = () => real() - Math.round(spanMs * (1 - step / steps));
  try {
    await work(() => (step += 1));
  } finally {
    Date.now = real;
  }
}

const secondsBetweenMessages = 45;

/** Makes a mesh whose first machine has sent `messages` messages, one every 45 s, all by the product's own sends. */
export async function makeHistory(
  root: string,
  messages: number,
  onProgress: (done: number) => void,
): Promise<TwoMachines> {
  const remote = bareRemote(root);
  // As on the remote of the clones that git is measured with: housekeeping falls on runs at random.
  stockGit(['config', 'gc.auto', '0'], { cwd: remote });
  stockGit(['config', 'receive.autogc', 'false'], { cwd: remote });
  const env = cleanEnvironment(root);
  const open = async (handle: string): Promise<Resident> => {
    const store = join(root, handle);
    const membership = { dir: store, env, logger: silentLogger, hostname: handle, machine: handle };
    if (handle === 'studio') await initMesh({ ...membership, remote });
    else await joinMesh({ ...membership, url: remote });
    const mesh = await openMesh({ dir: store, env, logger: silentLogger });
    return { handle, store, mesh, connection: mesh.newConnection({ resident: true }) };
  };
  const residents: Resident[] = [];
  await inThePast(messages + 1, messages * secondsBetweenMessages * 1000, async (next) => {
    const studio = await open('studio');
    const laptop = await open('laptop');
    residents.push(studio, laptop);
    await studio.mesh.syncNow();
    for (let n = 0; n < messages; n++) {
      next();
      await send(studio, 'laptop', n);
      // As workers would: a message leaves and arrives soon after it was sent.
      if (n % 100 === 99) {
        await studio.mesh.syncNow();
        await laptop.mesh.syncNow();
      }
      if (n % 500 === 499) onProgress(n + 1);
    }
  });
  const [studio, laptop] = residents;
  if (studio === undefined || laptop === undefined) throw new Error('two machines were opened');
  for (const resident of residents) {
    const input = { agent_id: 'bench', ttl_seconds: 86_400, confirm: true };
    await resident.mesh.api.checkin(input, { connection: resident.connection });
  }
  // Everything that is due is done before anything is measured.
  for (const resident of [studio, laptop, studio, laptop, studio]) {
    const sync = await resident.mesh.syncNow();
    if (sync.state !== 'ok' || sync.queued !== 0)
      throw new Error(`${resident.handle} is behind: ${JSON.stringify(sync)}`);
  }
  return {
    remote,
    studio,
    laptop,
    close: async () => {
      for (const resident of residents) await resident.mesh.close();
    },
  };
}
