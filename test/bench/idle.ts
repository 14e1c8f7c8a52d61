import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { silentLogger } from '@git-mesh/core';
import { initMesh, joinMesh, openMesh } from '@git-mesh/sync';
import { CuttingProxy, HttpGitServer, noSshd, Sshd } from '@git-mesh/sync/testing';
import { cleanEnvironment } from '../environment.js';
import { bareRemote } from '../stock-git.js';

/** A poll of a quiet remote comes this often at the slowest. */
const pollSeconds = 30;
const polls = 10;

export interface IdleCost {
  transport: string;
  machines: number;
  /** Connections, or processes for a path, of one poll. */
  requests: number;
  bytesUp: number;
  bytesDown: number;
}

interface Counted {
  connections: number;
  up: number;
  down: number;
}

interface Line {
  url: string;
  env: Record<string, string>;
  counted(): Counted;
  close(): Promise<void>;
}

function throughProxy(proxy: CuttingProxy): () => Counted {
  return () => ({ connections: proxy.connections, ...proxy.passed });
}

async function overHttp(root: string, hub: string): Promise<Line> {
  const env = cleanEnvironment(root);
  const server = await HttpGitServer.start({ root, env });
  const proxy = await CuttingProxy.start(server.port);
  return {
    url: `http://127.0.0.1:${proxy.port}/${hub.slice(root.length + 1)}`,
    env,
    counted: throughProxy(proxy),
    close: async () => {
      await proxy.close();
      await server.close();
    },
  };
}

async function overSsh(root: string, hub: string): Promise<Line> {
  const sshd = await Sshd.start(join(root, 'sshd'));
  const proxy = await CuttingProxy.start(sshd.port);
  return {
    url: `mesh-host:${hub}`,
    env: { ...cleanEnvironment(root), GIT_SSH_COMMAND: sshd.command('-o', `Port=${proxy.port}`) },
    counted: throughProxy(proxy),
    close: async () => {
      await proxy.close();
      await sshd.stop();
    },
  };
}

/** A git before the real one on PATH that notes each run and what it writes. */
function onDisk(root: string, hub: string): Promise<Line> {
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  const [folder, runs, bytes] = ['counting', 'runs', 'bytes'].map((name) => join(root, name));
  if (folder === undefined || runs === undefined || bytes === undefined) throw new Error('three paths were made');
  mkdirSync(folder);
  writeFileSync(runs, '');
  writeFileSync(bytes, '');
  writeFileSync(join(folder, 'git'), `#!/bin/sh\necho "$1" >> '${runs}'\n'${real}' "$@" | tee -a '${bytes}'\n`);
  chmodSync(join(folder, 'git'), 0o755);
  const env = cleanEnvironment(root);
  const count = (file: string, what: RegExp): number => readFileSync(file, 'latin1').match(what)?.length ?? 0;
  return Promise.resolve({
    url: hub,
    env: { ...env, PATH: `${folder}${delimiter}${env['PATH'] ?? ''}` },
    counted: () => ({ connections: count(runs, /\n/g), up: 0, down: readFileSync(bytes).length }),
    close: () => Promise.resolve(),
  });
}

const lines = { 'a local path': onDisk, ssh: overSsh, http: overHttp };

/** What a machine with nothing to say costs a remote that has nothing new, for each transport. */
export async function measureIdle(dir: string, machines: number): Promise<IdleCost[]> {
  const costs: IdleCost[] = [];
  for (const [transport, open] of Object.entries(lines)) {
    if (transport === 'ssh' && noSshd !== null) continue;
    const root = mkdtempSync(join(dir, 'idle-'));
    try {
      costs.push(await idleCost(root, { transport, machines, open }));
    } finally {
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    }
  }
  return costs;
}

async function idleCost(
  root: string,
  { transport, machines, open }: { transport: string; machines: number; open: (typeof lines)[keyof typeof lines] },
): Promise<IdleCost> {
  const line = await open(root, bareRemote(root));
  try {
    const { url, env } = line;
    const place = (n: number): string => join(root, `machine-${n}`);
    for (let n = 1; n <= machines; n++) {
      const handle = `machine-${n}`;
      const options = {
        dir: place(n),
        env,
        logger: silentLogger,
        hostname: handle,
        machine: handle,
        allowPublic: true,
      };
      await (n === 1 ? initMesh({ ...options, remote: url }) : joinMesh({ ...options, url }));
    }
    const mesh = await openMesh({ dir: place(1), env, logger: silentLogger });
    // Whatever is new is taken in first.
    for (let n = 0; n < 3; n++) await mesh.syncNow();
    const before = line.counted();
    for (let n = 0; n < polls; n++) await mesh.syncNow();
    const after = line.counted();
    await mesh.close();
    const each = (what: keyof Counted): number => Math.round((after[what] - before[what]) / polls);
    return { transport, machines, requests: each('connections'), bytesUp: each('up'), bytesDown: each('down') };
  } finally {
    await line.close();
  }
}

/** The costs as a Markdown table, for a poll and for an hour of them. */
export function idleTable(costs: readonly IdleCost[]): string {
  const anHour = 3600 / pollSeconds;
  const rows = costs.map(({ transport, machines, requests, bytesUp, bytesDown }) => [
    transport,
    String(machines),
    String(requests),
    `${bytesUp} B`,
    `${bytesDown} B`,
    String(requests * anHour),
    `${Math.round(((bytesUp + bytesDown) * anHour) / 1024)} KiB`,
  ]);
  const head = ['transport', 'machines', 'requests a poll', 'up', 'down', 'requests an hour', 'bytes an hour'];
  return [head, head.map((_, at) => (at === 0 ? '---' : '---:')), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}
