import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { silentLogger } from '@git-mesh/core';
import { initMesh } from '@git-mesh/sync';
import { cleanEnvironment, type Environment, launcher } from '../environment.js';
import { bareRemote } from '../stock-git.js';
import { costOf } from './command-cost.js';
import type { Cost } from './command-cost.js';
import { median } from './measure.js';
import { cpuOf, ServerProcess } from './server-process.js';

export interface StartCost {
  name: string;
  wall: number[];
  cpu: number[];
  /** The highest ratio to `node -e 0` that is aimed at. */
  aim: number;
}

const bare = 'node -e 0';
const commandAim = 1.6;
const serverAim = 2.5;

async function serverCost(options: { env: Environment; cwd: string }): Promise<Cost> {
  const server = new ServerProcess(options);
  const started = performance.now();
  await server.listTools();
  const cost = { wall: performance.now() - started, cpu: cpuOf(server.pid) };
  await server.end();
  return cost;
}

/** What each command takes from its start to its end, and the server to its first list of tools, in turns with Node alone. */
export async function measureStart(dir: string, runs: number): Promise<StartCost[]> {
  const root = mkdtempSync(join(dir, 'start-'));
  const env = cleanEnvironment(root);
  const place = async (handle: string, remote?: string): Promise<string> => {
    const store = join(root, handle);
    const membership = { dir: store, env, logger: silentLogger, hostname: handle, machine: handle };
    await initMesh(remote === undefined ? membership : { ...membership, remote });
    return store;
  };
  const alone = { cwd: root, env: { ...env, GIT_MESH_DIR: await place('alone') } };
  const shared = { cwd: root, env: { ...env, GIT_MESH_DIR: await place('shared', bareRemote(root)) } };
  for (const options of [alone, shared]) costOf([launcher, 'checkin', 'qa', '--ttl', '86400'], options);
  // A server keeps its compiled code at its first call, not while it is only looked at.
  const called = new ServerProcess(alone);
  await called.listTools();
  await called.call('agents_list', {});
  await called.end();
  const command = (name: string, args: readonly string[], options = alone) => ({
    name,
    aim: commandAim,
    run: () => Promise.resolve(costOf([launcher, ...args], options)),
  });
  const measured = [
    { name: bare, aim: 1, run: () => Promise.resolve(costOf(['-e', '0'], alone)) },
    command('git mesh --version', ['--version']),
    command('git mesh --help', ['--help']),
    command('git mesh inbox', ['inbox', 'qa']),
    command('git mesh inbox, with a remote at a path', ['inbox', 'qa'], shared),
    command('git mesh guard', ['guard']),
    command('git mesh hook', ['hook', 'claude-code', 'Stop']),
    { name: 'MCP server to its first tools/list', aim: serverAim, run: () => serverCost(alone) },
  ];
  const costs: StartCost[] = measured.map(({ name, aim }) => ({ name, aim, wall: [], cpu: [] }));
  for (let n = -1; n < runs; n++) {
    for (const [at, { run }] of measured.entries()) {
      const { wall, cpu } = await run();
      // The first turn only fills the caches of the disk.
      if (n < 0) continue;
      costs[at]?.wall.push(wall);
      costs[at]?.cpu.push(cpu);
    }
  }
  return costs;
}

/** The costs as a Markdown table. */
export function startTable(costs: readonly StartCost[]): string {
  const node = costs.find(({ name }) => name === bare);
  if (node === undefined) throw new Error(`${bare} was not measured`);
  const rows = costs.map(({ name, wall, cpu, aim }) => {
    const ratios = [median(wall) / median(node.wall), median(cpu) / median(node.cpu)];
    const met = ratios.every((ratio) => ratio <= aim);
    const times = [wall, cpu].map((values) => `${Math.round(median(values))} ms`);
    const verdict = name === bare ? '' : `≤ ${aim}: ${met ? 'met' : 'missed'}`;
    return [name, String(wall.length), ...times, ...ratios.map((ratio) => ratio.toFixed(2)), verdict];
  });
  const head = ['what', 'runs', 'wall', 'processor', 'wall ratio', 'processor ratio', 'aim'];
  const under = ['---', '---:', '---:', '---:', '---:', '---:', '---'];
  return [head, under, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
