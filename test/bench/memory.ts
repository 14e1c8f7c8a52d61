import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { silentLogger } from '@git-mesh/core';
import { initMesh } from '@git-mesh/sync';
import { cleanEnvironment } from '../environment.js';
import { bareRemote } from '../stock-git.js';
import { residentMib, ServerProcess } from './server-process.js';

export interface MemoryUse {
  when: string;
  mib: number;
  /** Null where nothing is aimed at. */
  aim: number | null;
}

const idleAim = 90;
const liveAim = 150;

/** What one resident server holds: idle, after its first call, and after `messages` that its agent sent to itself and read. */
export async function measureMemory(
  dir: string,
  messages: number,
  onProgress: (line: string) => void,
): Promise<MemoryUse[]> {
  const root = mkdtempSync(join(dir, 'memory-'));
  const env = { ...cleanEnvironment(root), GIT_MESH_DIR: join(root, 'store') };
  const membership = { dir: env.GIT_MESH_DIR, env, logger: silentLogger, hostname: 'studio', machine: 'studio' };
  await initMesh({ ...membership, remote: bareRemote(root) });
  const server = new ServerProcess({ cwd: root, env });
  const uses: MemoryUse[] = [];
  const look = (when: string, aim: number | null): void => {
    uses.push({ when, mib: residentMib(server.pid), aim });
  };
  await server.listTools();
  await pause(5000);
  look('idle: 5 s after its first tools/list', idleAim);
  await server.call('agent_checkin', { agent_id: 'qa', ttl_seconds: 86_400, confirm: true });
  look('after its first call', null);
  await pause(5000);
  look('idle: 5 s after its first call, its worker running', idleAim);
  const payload = { reason: 'release 2.1', repo: 'shop', branch: 'feature/search' };
  for (let n = 1; n <= messages; n++) {
    await server.call('agent_send', { to: 'studio', msg_type: 'note', from_agent: 'qa', payload: { ...payload, n } });
    if (n % 1000 === 0) onProgress(`  ${n} of ${messages}`);
    if (n === messages / 2) look(`after ${n} messages`, null);
  }
  look(`after ${messages} messages`, liveAim);
  await pause(60_000);
  look(`a minute after ${messages} messages`, liveAim);
  await server.end();
  return uses;
}

/** The uses as a Markdown table. */
export function memoryTable(uses: readonly MemoryUse[]): string {
  const rows = uses.map(({ when, mib, aim }) => {
    const verdict = aim === null ? '' : `≤ ${aim} MiB: ${mib <= aim ? 'met' : 'missed'}`;
    return [when, `${Math.round(mib)} MiB`, verdict];
  });
  return [['a resident server', 'memory (RSS)', 'aim'], ['---', '---:', '---'], ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}
