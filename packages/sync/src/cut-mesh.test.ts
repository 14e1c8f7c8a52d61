import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { delimiter } from 'node:path';
import { silentLogger } from '@git-mesh/core';
import type { Connection } from '@git-mesh/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OpenMesh } from './contract.js';
import { initMesh } from './init.js';
import { joinMesh } from './join.js';
import { openMesh } from './open.js';
import { CuttingProxy } from './testing/cutting-proxy.js';
import { GitFixture } from './testing/git-fixture.js';
import { HttpGitServer } from './testing/http-git-server.js';
import { noSshd, Sshd } from './testing/sshd.js';

const logger = silentLogger;
const seed = Number(process.env['GIT_MESH_CUT_SEED'] ?? 20_261_202);
/** Long enough that a cut often falls into the middle of a pack, and does not shrink. */
const payloadBytes = 6_000;

type Cut = { direction: 'up' | 'down'; after: number } | null;

/** A way to a hub that can be cut. */
interface Line {
  url: string;
  env: Readonly<Record<string, string>>;
  /** Bytes within which a cut is likely to matter. */
  reach: number;
  cut(cut: Cut): void;
  close(): Promise<void>;
}

/** mulberry32: the same offsets for the same seed. */
function seeded(from: number): () => number {
  let state = from;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function overHttp(fixture: GitFixture): Promise<Line> {
  fixture.bare('hub.git');
  const server = await HttpGitServer.start({ root: fixture.root, env: fixture.env });
  const proxy = await CuttingProxy.start(server.port);
  return {
    url: `http://127.0.0.1:${proxy.port}/hub.git`,
    env: fixture.env,
    reach: 8_000,
    cut: (cut) => {
      proxy.cutAfter(cut);
    },
    close: async () => {
      await proxy.close();
      await server.close();
    },
  };
}

async function overSsh(fixture: GitFixture): Promise<Line> {
  const hub = fixture.bare('hub.git');
  const sshd = await Sshd.start(fixture.path('sshd'));
  const proxy = await CuttingProxy.start(sshd.port);
  const port = ['-o', `Port=${proxy.port}`];
  return {
    url: `mesh-host:${hub}`,
    env: { ...fixture.env, GIT_SSH_COMMAND: sshd.command(...port) },
    reach: 13_000,
    cut: (cut) => {
      proxy.cutAfter(cut);
    },
    close: async () => {
      await proxy.close();
      await sshd.stop();
    },
  };
}

/** A git before the real one on PATH that passes on no more than so many bytes. */
function onDisk(fixture: GitFixture): Promise<Line> {
  const url = fixture.bare('hub.git');
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  const limit = fixture.path('cut', 'limit');
  mkdirSync(fixture.path('cut'));
  const script = [
    '#!/bin/sh',
    `read -r direction after < '${limit}'`,
    `[ "$direction" = none ] && exec '${real}' "$@"`,
    // dd passes on each byte at once, as head does not. The shell that waits must not hold the pipes open: a line that is cut shows its end.
    'exec 3<&0',
    `if [ "$direction" = up ]; then dd bs=1 count="$after" 2>/dev/null <&3 | '${real}' "$@" &`,
    `else '${real}' "$@" <&3 | dd bs=1 count="$after" 2>/dev/null &`,
    'fi',
    'exec <&- >&- 3<&-',
    'wait $!',
  ];
  writeFileSync(fixture.path('cut', 'git'), `${script.join('\n')}\n`);
  chmodSync(fixture.path('cut', 'git'), 0o755);
  const cut = (wanted: Cut): void => {
    writeFileSync(limit, wanted === null ? 'none 0\n' : `${wanted.direction} ${wanted.after}\n`);
  };
  cut(null);
  return Promise.resolve({
    url,
    env: { ...fixture.env, PATH: `${fixture.path('cut')}${delimiter}${process.env['PATH'] ?? ''}` },
    reach: 8_000,
    cut,
    close: () => Promise.resolve(),
  });
}

interface Machine {
  mesh: OpenMesh;
  call: { connection: Connection };
  agent: string;
  store: string;
}

const lines = [
  { name: 'http', open: overHttp, runs: 20, skip: false },
  // A connection of it takes a fifth of a second.
  { name: 'ssh', open: overSsh, runs: 10, skip: noSshd !== null },
  { name: 'a local path', open: onDisk, runs: 20, skip: process.platform === 'win32' },
];

describe.each(lines.filter(({ skip }) => !skip))('a mesh over $name', ({ open, runs }) => {
  let fixture: GitFixture;
  let line: Line;
  const machines: Machine[] = [];
  beforeEach(async () => {
    fixture = new GitFixture();
    line = await open(fixture);
  });
  afterEach(async () => {
    for (const { mesh } of machines.splice(0)) await mesh.close();
    await line.close();
    fixture.remove();
  });

  const machine = async (handle: string, agent: string): Promise<Machine> => {
    const store = fixture.path(handle);
    const options = { machine: handle, hostname: handle, dir: store, env: line.env, logger };
    if (handle === 'studio') await initMesh({ ...options, remote: line.url, allowPublic: true });
    else await joinMesh({ ...options, url: line.url, allowPublic: true });
    const mesh = await openMesh({ dir: store, env: line.env, logger });
    const made = { mesh, call: { connection: mesh.newConnection({ resident: false }) }, agent, store };
    machines.push(made);
    await mesh.api.checkin({ agent_id: agent, confirm: true }, made.call);
    return made;
  };

  const inbox = async ({ mesh, call, agent }: Machine): Promise<{ message_id: number; id: string }[]> => {
    const found: { message_id: number; id: string }[] = [];
    for (;;) {
      const after = found.at(-1)?.message_id;
      const input = { agent_id: agent, limit: 100, ...(after === undefined ? {} : { after }) };
      const { messages, remaining } = await mesh.api.inbox(input, call);
      found.push(...messages);
      if (remaining === 0) return found;
    }
  };

  it(`loses and doubles nothing when the line is cut ${runs} times at random (seed ${seed})`, async () => {
    const [studio, laptop] = [await machine('studio', 'dev'), await machine('laptop', 'qa')];
    for (const { mesh } of [laptop, studio]) await mesh.syncNow();
    const random = seeded(seed);
    const sent = new Map<Machine, string[]>([
      [studio, []],
      [laptop, []],
    ]);
    const send = async (from: Machine, to: string): Promise<void> => {
      const text = Array.from({ length: payloadBytes }, () => Math.floor(random() * 36).toString(36)).join('');
      const { id } = await from.mesh.api.send({ to, msg_type: 'note', payload: { text } }, from.call);
      sent.get(from)?.push(id);
    };
    let failed = 0;
    for (let run = 0; run < runs; run++) {
      await send(studio, 'laptop');
      await send(laptop, 'studio');
      line.cut({ direction: random() < 0.5 ? 'up' : 'down', after: Math.floor(random() * line.reach) });
      for (const { mesh } of [studio, laptop]) if ((await mesh.syncNow()).error !== null) failed += 1;
      line.cut(null);
      // The very next round heals it.
      for (const { mesh } of [studio, laptop]) {
        expect(await mesh.syncNow()).toMatchObject({ state: 'ok', queued: 0, error: null });
      }
    }
    // Else no cut fell where it hurts, and nothing was shown.
    expect(failed).toBeGreaterThanOrEqual(runs / 2);
    await studio.mesh.syncNow();
    const arrived = { studio: await inbox(studio), laptop: await inbox(laptop) };
    expect(arrived.laptop.map(({ id }) => id)).toEqual(sent.get(studio));
    expect(arrived.studio.map(({ id }) => id)).toEqual(sent.get(laptop));

    // Acks and receipts find their way back through the same.
    const message_ids = arrived.laptop.map((message) => message.message_id);
    await laptop.mesh.api.ack({ agent_id: 'qa', message_ids, confirm: true }, laptop.call);
    line.cut({ direction: 'up', after: Math.floor(line.reach / 8) });
    await laptop.mesh.syncNow();
    line.cut(null);
    for (const { mesh } of [laptop, studio]) await mesh.syncNow();
    const { messages } = await studio.mesh.api.sent({ limit: 100 }, studio.call);
    expect(messages.map(({ state }) => state)).toEqual(Array.from({ length: runs }, () => 'acked'));
    for (const path of [fixture.path('hub.git'), studio.store, laptop.store]) {
      expect(fixture.git(['-C', path, 'fsck', '--strict', '--no-dangling'])).toBe('');
    }
  }, 300_000);
});
