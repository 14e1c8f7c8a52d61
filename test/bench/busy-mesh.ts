import { spawnSync } from 'node:child_process';
import { cleanEnvironment, type Environment, launcher } from '../environment.js';
import { bareRemote, stockGit } from '../stock-git.js';
import { median, quantile, timed } from './measure.js';
import { addResident, type Resident } from './resident.js';

/** What an answer takes in a mesh with much in it, in milliseconds. */
export interface Answer {
  what: string;
  median: number;
  p90: number;
  /** Null where nothing is aimed at. */
  aim: number | null;
}

export interface BusyOptions {
  machines: number;
  agents: number;
  /** Live ones, all for one agent. */
  messages: number;
  runs: number;
}

const residentAim = 10;

/** The inbox and the list of agents on a machine for which so many live messages lie there, and stock git that looks for the same. */
export async function measureBusy(
  root: string,
  options: BusyOptions,
  onProgress: (line: string) => void,
): Promise<Answer[]> {
  const remote = bareRemote(root);
  const env = cleanEnvironment(root);
  const perMachine = {
    agents: Math.ceil(options.agents / options.machines),
    messages: Math.ceil(options.messages / (options.machines - 1)),
  };
  const studio = await addResident(root, { remote, handle: 'studio', isFirst: true });
  await checkIn(studio, perMachine.agents);
  await studio.mesh.syncNow();
  for (let n = 1; n < options.machines; n++) {
    const member = await addResident(root, { remote, handle: `m${n}`, isFirst: false });
    await checkIn(member, perMachine.agents);
    for (let sent = 0; sent < perMachine.messages; sent += together) {
      const some = Math.min(together, perMachine.messages - sent);
      await Promise.all(Array.from({ length: some }, (_, i) => sendOne(member, sent + i)));
    }
    await member.mesh.syncNow();
    await member.mesh.close();
    if (n % 10 === 0) onProgress(`  ${n} of ${options.machines} machines`);
  }
  await studio.mesh.syncNow();
  const { remaining } = await inbox(studio);
  if (remaining < options.messages - 100) throw new Error(`only ${remaining} messages are live`);
  const answers: Answer[] = [];
  const measure = async (what: string, aim: number | null, one: () => unknown): Promise<void> => {
    await one();
    const times: number[] = [];
    for (let run = 0; run < options.runs; run++) times.push(await timed(one));
    answers.push({ what, median: median(times), p90: quantile(times, 0.9), aim });
  };
  await measure('agent_inbox, resident', residentAim, () => inbox(studio));
  await measure('agents_list, resident', null, () => studio.mesh.api.agents({}, { connection: studio.connection }));
  await measure('git mesh inbox', null, () => {
    cli(studio, env, ['inbox', 'agent-0', '--json']);
  });
  await measure('git mesh agents', null, () => {
    cli(studio, env, ['agents', '--json']);
  });
  const git = (args: string[]): string => stockGit(args, { cwd: studio.store });
  await measure('git log --grep, for the last 50 messages', null, () =>
    git(['log', '--all', '-n', '50', '--format=%H', '--grep=^Mesh-To: studio']),
  );
  const tips = git(['for-each-ref', '--format=%(refname)', 'refs/heads/mesh/']).split('\n');
  await measure('git grep in the presence of all tips', null, () =>
    git(['grep', '-h', '^agent:', ...tips, '--', 'presence/']),
  );
  await studio.mesh.close();
  return answers;
}

/** Sends that are made at once share a commit run; so many do not fill the memory. */
const together = 50;

async function checkIn({ mesh, connection }: Resident, agents: number): Promise<void> {
  for (let n = 0; n < agents; n++) {
    const fields = { role: 'dev', repo: 'shop', status: `works on part ${n}`, ttl_seconds: 86_400 };
    await mesh.api.checkin({ agent_id: `agent-${n}`, ...fields, confirm: true }, { connection });
  }
}

async function sendOne({ mesh, connection }: Resident, n: number): Promise<void> {
  const payload = { reason: 'release 2.1', repo: 'shop', branch: `feature/${n}`, n };
  await mesh.api.send({ to: 'studio', msg_type: 'note', from_agent: 'agent-0', payload }, { connection });
}

function inbox({ mesh, connection }: Resident): Promise<{ remaining: number }> {
  return mesh.api.inbox({ agent_id: 'agent-0', limit: 50 }, { connection });
}

function cli({ store }: Resident, env: Environment, args: string[]): void {
  const ran = spawnSync(process.execPath, [launcher, ...args], {
    env: { ...env, GIT_MESH_DIR: store },
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (ran.status !== 0) throw new Error(`git-mesh ${args.join(' ')} failed: ${ran.stderr}`);
}

export function busyTable({ machines, agents, messages }: BusyOptions, answers: readonly Answer[]): string {
  const head = [`${machines} machines, ${agents} agents, ${messages} live messages`, 'median', 'p90', 'aim'];
  const rows = answers.map(({ what, median: ms, p90, aim }) => [
    what,
    `${ms.toFixed(1)} ms`,
    `${p90.toFixed(1)} ms`,
    aim === null ? '' : `≤ ${aim} ms: ${ms <= aim ? 'met' : 'missed'}`,
  ]);
  return [head, ['---', '---:', '---:', '---'], ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
