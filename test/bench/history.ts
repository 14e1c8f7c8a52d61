import { addResident, quietRemote, type Resident } from './resident.js';

/** Two machines in this process and the repository between them. */
export interface TwoMachines {
  remote: string;
  studio: Resident;
  laptop: Resident;
  close(): Promise<void>;
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
  // As the remote of the clones that git is measured with.
  const remote = quietRemote(root);
  const residents: Resident[] = [];
  await inThePast(messages + 1, messages * secondsBetweenMessages * 1000, async (next) => {
    const studio = await addResident(root, { remote, handle: 'studio', isFirst: true });
    const laptop = await addResident(root, { remote, handle: 'laptop', isFirst: false });
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
