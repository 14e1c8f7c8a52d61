import { silentLogger } from '@git-mesh/core';
import { joinMesh, openMesh } from '@git-mesh/sync';
import { cleanEnvironment } from '../environment.js';

/** What one step of {@link file://./backlog.ts} came to, printed as JSON: it runs in a process of its own, for its memory. */
export interface StepResult {
  ms: number;
  rounds: number;
  rss_mib: number;
}

const maxRounds = 60;

/** Rounds until nothing is left to do: the same call that `git mesh sync` makes, as often as it takes. */
async function catchUp(dir: string, root: string): Promise<number> {
  const mesh = await openMesh({ dir, env: cleanEnvironment(root), logger: silentLogger });
  try {
    for (let rounds = 1; ; rounds++) {
      const { state, queued, error } = await mesh.syncNow();
      const { problems } = await mesh.api.status();
      const behind = queued > 0 || state !== 'ok' || problems.length > 0;
      if (!behind) return rounds;
      if (rounds >= maxRounds) throw new Error(`still behind after ${rounds} rounds: ${JSON.stringify(error)}`);
    }
  } finally {
    await mesh.close();
  }
}

const [step = '', dir = '', root = '', url = ''] = process.argv.slice(2);
const started = performance.now();
let rounds = 1;
if (step === 'join') {
  const setup = { dir, env: cleanEnvironment(root), logger: silentLogger, hostname: 'late', machine: 'late' };
  await joinMesh({ ...setup, url });
} else {
  rounds = await catchUp(dir, root);
}
const result: StepResult = {
  ms: performance.now() - started,
  rounds,
  rss_mib: Math.round(process.resourceUsage().maxRSS / 1024),
};
process.stdout.write(JSON.stringify(result));
