import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { ownIdentity, provenDead } from './identity.js';
import { startTime } from './process-start.js';

describe('the proof that a process is dead', () => {
  it('is not there for oneself', async () => {
    expect(await provenDead(await ownIdentity())).toBe(false);
  });

  it('is there once the process has ended', async () => {
    const child = spawn(process.execPath, ['-e', '']);
    await once(child, 'close');
    expect(await provenDead({ ...(await ownIdentity()), pid: child.pid ?? 0 })).toBe(true);
  });

  it('is there for a pid that a later process has', async () => {
    const own = await ownIdentity();
    const later = { ...own, started_at: own.started_at - 10_000, ...(own.ticks === undefined ? {} : { ticks: '1' }) };
    expect(await provenDead(later)).toBe(true);
  });

  it.skipIf(process.platform !== 'linux')('is there for a process that has ended and was not reaped', async () => {
    // The shell starts a child and becomes sleep, which never waits for it.
    const parent = spawn('sh', ['-c', 'sh -c "exit 0" & echo $!; exec sleep 60'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const { ticks: _, ...identity } = await ownIdentity();
    await expect.poll(() => provenDead({ ...identity, pid: Number(line.toString()) })).toBe(true);
    parent.kill('SIGKILL');
    await once(parent, 'close');
  });

  it('finds a start time by asking the system that agrees with the own one', async () => {
    const asked = await startTime(process.pid, process.platform);
    const { started_at } = await ownIdentity();
    // Not every system has the tool; where it has, the answer counts.
    if (asked !== null) expect(Math.abs(asked - started_at)).toBeLessThan(2_000);
  });
});
