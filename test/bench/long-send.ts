import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { openMesh } from '@git-mesh/sync';
import { silentLogger } from '@git-mesh/core';
import { launcher } from '../environment.js';
import { stockGit } from '../stock-git.js';
import type { BulkHistory } from './bulk-history.js';
import { Clone, newestMessage } from './clone.js';
import { median, quantile, timed } from './measure.js';

/** Milliseconds of each send at one length of the history, all taken in turns. */
export interface LongSend {
  history: number;
  live: number;
  times: Readonly<Record<Way, readonly number[]>>;
}

type Way = 'resident' | 'commit' | 'plumbing' | 'command' | 'pushed';

/** The last length may take so many times what the first took. */
const growthAim = 1.3;
const commitAim = 0.25;

/**
 * A durable send of a resident process beside `git add` and `git commit`, and beside the plumbing (`hash-object`,
 * `update-index`, `write-tree`, `commit-tree`, `update-ref`); and `git mesh send`, which also exchanges with the remote,
 * beside `git fetch`, `git add`, `git commit` and `git push`.
 */
export async function measureLongSend(
  { store, remote, env }: BulkHistory,
  { root, history, live, runs }: { root: string; history: number; live: number; runs: number },
): Promise<LongSend> {
  const copy = join(root, 'pushed.git');
  stockGit(['clone', '-q', '--mirror', remote, copy]);
  stockGit(['config', 'gc.auto', '0'], { cwd: copy });
  stockGit(['config', 'receive.autogc', 'false'], { cwd: copy });
  const [commits, plumbing, pushes] = ['commits', 'plumbing', 'pushes'].map(
    (name) => new Clone(copy, join(root, name), 'studio'),
  );
  if (commits === undefined || plumbing === undefined || pushes === undefined) throw new Error('three were cloned');
  const mesh = await openMesh({ dir: store, env, logger: silentLogger });
  const connection = mesh.newConnection({ resident: true });
  await mesh.api.checkin({ agent_id: 'bench', ttl_seconds: 86_400, confirm: true }, { connection });
  const times: Record<Way, number[]> = { resident: [], commit: [], plumbing: [], command: [], pushed: [] };
  for (let n = -3; n < runs; n++) {
    const payload = { reason: 'release 2.1', repo: 'shop', branch: `feature/${n}`, n };
    const input = { to: 'laptop', msg_type: 'note', from_agent: 'bench', payload };
    let id = '';
    const note = async (way: Way, work: () => unknown): Promise<void> => {
      const ms = await timed(work);
      // The first ones warm all sides up.
      if (n >= 0) times[way].push(ms);
    };
    await note('resident', async () => (id = (await mesh.api.send(input, { connection })).id));
    const { file, body } = newestMessage(store, 'studio', id);
    commits.write(file, body);
    await note('commit', () => {
      commits.commit(file);
    });
    await note('plumbing', () => {
      commitByPlumbing(plumbing, file, body);
    });
    await note('command', () => {
      sendByCommand({ store, env }, JSON.stringify(payload));
    });
    pushes.write(file, body);
    await note('pushed', () => {
      pushes.git(['fetch', '-q', 'origin']);
      pushes.commit(file);
      pushes.git(['push', '-q', 'origin', pushes.branch]);
    });
  }
  await mesh.close();
  return { history, live: Math.min(live, history), times };
}

function commitByPlumbing({ path, branch }: Clone, file: string, body: string): void {
  const git = (args: string[], input?: string): string =>
    stockGit(args, input === undefined ? { cwd: path } : { cwd: path, input });
  const blob = git(['hash-object', '-w', '--stdin'], body);
  git(['update-index', '--add', '--cacheinfo', `100644,${blob},${file}`]);
  const commit = git(['commit-tree', git(['write-tree']), '-p', branch], 'send laptop note');
  git(['update-ref', `refs/heads/${branch}`, commit]);
}

function sendByCommand({ store, env }: Pick<BulkHistory, 'store' | 'env'>, payload: string): void {
  const args = [launcher, 'send', 'laptop', 'note', '--from', 'bench', '--payload', payload];
  const ran = spawnSync(process.execPath, args, { env: { ...env, GIT_MESH_DIR: store }, encoding: 'utf8' });
  if (ran.status !== 0) throw new Error(`git mesh send failed: ${ran.stderr}`);
}

/** The sends as a Markdown table. */
export function longSendTable(sends: readonly LongSend[]): string {
  const cell = (values: readonly number[]): string =>
    `${median(values).toFixed(1)} ms (${quantile(values, 0.9).toFixed(1)})`;
  const ratio = (one: LongSend, way: Way, rival: Way): number => median(one.times[way]) / median(one.times[rival]);
  const head = [
    'history',
    'live',
    'agent_send (p90)',
    'git add, commit',
    'ratio',
    'plumbing',
    'ratio',
    'git mesh send',
    'fetch, add, commit, push',
    'ratio',
  ];
  const rows = sends.map((one) => [
    String(one.history),
    String(one.live),
    cell(one.times.resident),
    cell(one.times.commit),
    ratio(one, 'resident', 'commit').toFixed(2),
    cell(one.times.plumbing),
    ratio(one, 'resident', 'plumbing').toFixed(2),
    cell(one.times.command),
    cell(one.times.pushed),
    ratio(one, 'command', 'pushed').toFixed(2),
  ]);
  const table = [head, Array<string>(head.length).fill('---:'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
  return `${table}\n\n${verdicts(sends).join('\n')}`;
}

function verdicts(sends: readonly LongSend[]): string[] {
  const lines = sends.map(({ history, times }) => {
    const ratio = median(times.resident) / median(times.commit);
    return `- agent_send at ${history} against git add and commit: ${ratio.toFixed(2)}, aim ≤ ${commitAim}: ${ratio <= commitAim ? 'met' : 'missed'}`;
  });
  const long = sends.filter(({ history }) => history >= 1_000).sort((one, other) => one.history - other.history);
  const [first, last] = [long[0], long.at(-1)];
  if (first === undefined || last === undefined || first === last) return lines;
  for (const [way, name] of [
    ['resident', 'agent_send'],
    ['command', 'git mesh send'],
  ] as const) {
    const ratio = median(last.times[way]) / median(first.times[way]);
    lines.push(
      `- ${name} at ${last.history} against ${first.history}: ${ratio.toFixed(2)}, aim ≤ ${growthAim}: ${ratio <= growthAim ? 'met' : 'missed'}`,
    );
  }
  return lines;
}
