import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@git-mesh/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Election } from './election.js';
import { electWorker, readWorker } from './election.js';

/** Built by `npm test`: a child cannot run the sources. */
const built = new URL('../dist/election.js', import.meta.url).href;
const childProgram = `
  import { electWorker } from ${JSON.stringify(built)};
  const say = (word) => process.stdout.write(word + '\\n');
  const log = { debug() {}, info() {}, warn: (text) => process.stderr.write(text + '\\n') };
  const election = electWorker({ dir: process.argv[1], logger: log, onElected: () => say('elected'), onLost: () => say('lost') });
  process.stdin.on('data', () => void election.stop().then(() => say('stopped')));
  process.stdin.on('end', () => process.exit(0));
  say('ready');
`;

interface Candidate {
  child: ChildProcess;
  /** The words it said, in order. */
  said: string[];
  leads(): boolean;
}

describe('electWorker', () => {
  let dir: string;
  const started: Candidate[] = [];
  const elections: Election[] = [];
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'git-mesh-election-'));
    mkdirSync(join(dir, 'mesh'));
  });
  afterEach(async () => {
    for (const { child } of started.splice(0)) child.kill('SIGKILL');
    for (const election of elections.splice(0)) await election.stop();
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  });

  function start(): Candidate {
    const child = spawn(process.execPath, ['--input-type=module', '-e', childProgram, dir], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const candidate: Candidate = {
      child,
      said: [],
      leads: () => candidate.said.at(-1) === 'elected',
    };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      candidate.said.push(...text.trim().split('\n'));
    });
    started.push(candidate);
    return candidate;
  }
  function elect(): Election & { said: string[] } {
    const said: string[] = [];
    const election = electWorker({
      dir,
      logger: silentLogger,
      onElected: () => said.push('elected'),
      onLost: () => said.push('lost'),
    });
    elections.push(election);
    return { ...election, said };
  }
  const leaders = (): Candidate[] => started.filter((each) => each.leads());

  it('elects one of ten that start at once, and another within 5 s of its kill -9', { timeout: 60_000 }, async () => {
    const all = Array.from({ length: 10 }, start);
    await expect.poll(() => all.every((each) => each.said.includes('ready')), { timeout: 30_000 }).toBe(true);
    await expect.poll(leaders, { timeout: 10_000 }).toHaveLength(1);

    for (let round = 0; round < 3; round += 1) {
      const [leader] = leaders();
      expect(await readWorker(dir)).toMatchObject({ pid: leader?.child.pid });
      const killedAt = Date.now();
      leader?.child.kill('SIGKILL');
      started.splice(started.indexOf(leader!), 1);
      await expect.poll(leaders, { timeout: 20_000, interval: 20 }).toHaveLength(1);
      expect(Date.now() - killedAt).toBeLessThan(5_000);
    }
    // Once at the start and once a kill: nobody was elected beside another, and nobody lost it.
    expect(all.flatMap(({ said }) => said).filter((word) => word !== 'ready')).toEqual(Array(4).fill('elected'));
  });

  it('hands the office on when its holder stops, and leaves nothing of its own', async () => {
    const first = elect();
    await expect.poll(() => first.alive(), { timeout: 5_000 }).toBe(true);
    const info = JSON.parse(readFileSync(join(dir, 'mesh', 'worker.json'), 'utf8')) as Record<string, unknown>;
    expect(info).toMatchObject({ pid: process.pid });
    expect(await readWorker(dir)).toEqual({ pid: process.pid, since: info['since'] });
    const second = start();
    await expect.poll(() => second.said, { timeout: 10_000 }).toContain('ready');
    await first.stop();
    await first.stop();
    expect(first.alive()).toBe(false);
    expect(first.said).toEqual(['elected']);
    await expect.poll(() => second.leads(), { timeout: 5_000 }).toBe(true);
    second.child.stdin?.write('stop\n');
    await expect.poll(() => second.said, { timeout: 5_000 }).toContain('stopped');
    expect(readdirSync(join(dir, 'mesh'))).toEqual([]);
    expect(await readWorker(dir)).toBeNull();
  });

  it('keeps no process alive', async () => {
    const child = start();
    await expect.poll(() => child.leads(), { timeout: 10_000 }).toBe(true);
    const exited = new Promise((resolve) => child.child.once('exit', resolve));
    child.child.stdin?.end();
    expect(await exited).toBe(0);
    expect(existsSync(join(dir, 'mesh', 'worker.lock'))).toBe(false);
  });

  it('tells when the office was taken away, and runs for it again', async () => {
    const election = elect();
    await expect.poll(() => election.alive(), { timeout: 5_000 }).toBe(true);
    rmSync(join(dir, 'mesh', 'worker.lock'), { recursive: true });
    await expect.poll(() => election.said, { timeout: 5_000 }).toEqual(['elected', 'lost']);
    await expect.poll(() => election.said, { timeout: 5_000 }).toEqual(['elected', 'lost', 'elected']);
  });

  it('is not blocked by a dead lock that is dated in the future', { timeout: 20_000 }, async () => {
    const lock = join(dir, 'mesh', 'worker.lock');
    mkdirSync(lock);
    utimesSync(lock, Date.now() / 1000 + 86_400, Date.now() / 1000 + 86_400);
    expect(await readWorker(dir)).toBeNull();
    const election = elect();
    await expect.poll(() => election.alive(), { timeout: 8_000 }).toBe(true);
  });

  it('is not blocked by stray files in a dead lock, nor by a file in its place', { timeout: 20_000 }, async () => {
    const lock = join(dir, 'mesh', 'worker.lock');
    mkdirSync(lock);
    writeFileSync(join(lock, '.DS_Store'), '');
    utimesSync(lock, 1, 1);
    const first = elect();
    await expect.poll(() => first.alive(), { timeout: 8_000 }).toBe(true);
    await first.stop();
    writeFileSync(lock, '');
    utimesSync(lock, 1, 1);
    const second = elect();
    await expect.poll(() => second.alive(), { timeout: 8_000 }).toBe(true);
    expect(readdirSync(join(dir, 'mesh')).filter((name) => name.endsWith('.stray'))).toEqual([]);
  });

  it('waits in peace for a folder that is missing', async () => {
    rmSync(join(dir, 'mesh'), { recursive: true });
    const election = elect();
    expect(await readWorker(dir)).toBeNull();
    mkdirSync(join(dir, 'mesh'));
    await expect.poll(() => election.alive(), { timeout: 5_000 }).toBe(true);
  });
});

describe('readWorker', () => {
  it('believes neither a lock that is not renewed nor a claim that it cannot read', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'git-mesh-election-'));
    try {
      const lock = join(dir, 'mesh', 'worker.lock');
      mkdirSync(lock, { recursive: true });
      const write = (text: string): void => {
        writeFileSync(join(dir, 'mesh', 'worker.json'), text);
      };
      for (const broken of ['', '{', 'null', '[]', '{"pid":"1","since":"x","token":"t"}', '{"pid":1}']) {
        write(broken);
        expect(await readWorker(dir)).toBeNull();
      }
      write('{"pid":1,"since":"2026-12-02T05:00:00.000Z","token":"t"}');
      expect(await readWorker(dir)).toEqual({ pid: 1, since: '2026-12-02T05:00:00.000Z' });
      // Its lock is fresh, but the process was killed a moment ago: no pid is as high as this.
      write('{"pid":2147483646,"since":"2026-12-02T05:00:00.000Z","token":"t"}');
      expect(await readWorker(dir)).toBeNull();
      write('{"pid":1,"since":"2026-12-02T05:00:00.000Z","token":"t"}');
      utimesSync(lock, Date.now() / 1000 - 4, Date.now() / 1000 - 4);
      expect(await readWorker(dir)).toBeNull();
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});
