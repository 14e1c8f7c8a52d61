import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startService } from './service-process.js';

/** Built by `npm test`: a child cannot run the sources. */
const built = new URL('../../dist/transport/service-process.js', import.meta.url).href;
const posix = process.platform !== 'win32';

/** Waits for more than any input, and tells where it was asked to end. */
const waiting = 'trap "touch asked; exit" TERM; touch ready; while :; do sleep 0.02; done';
/** Longer than any test. */
const finishMs = 600_000;

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'git-mesh-service-'));
  onTestFinished(() => {
    rmSync(made, { recursive: true, force: true });
  });
  return made;
}

it.skipIf(!posix)('a process that may finish by itself is asked to end where ours ends sooner', async () => {
  const dir = folder();
  const program = `
    import { existsSync } from 'node:fs';
    import { startService } from ${JSON.stringify(built)};
    process.chdir(${JSON.stringify(dir)});
    const command = { program: 'sh', args: ['-c', ${JSON.stringify(waiting)}], env: process.env, finishMs: ${finishMs} };
    const service = startService(command);
    setInterval(() => {
      if (!existsSync('ready')) return;
      service.kill();
      process.exit(0);
    }, 10);
  `;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  await expect.poll(() => existsSync(join(dir, 'asked')), { timeout: 10_000 }).toBe(true);
});

it.skipIf(!posix)(
  'a process that finishes by itself once its input ends is not asked, and what it says is read',
  async () => {
    const dir = folder();
    const listeners = process.listenerCount('exit');
    const args = ['-c', `trap "touch ${dir}/asked" TERM; echo begun; cat > /dev/null; echo done`];
    const service = startService({ program: 'sh', args, env: { PATH: process.env['PATH'] ?? '' }, finishMs });
    let said = '';
    service.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
    await expect.poll(() => said, { timeout: 10_000 }).toBe('begun\n');
    service.kill();
    expect(await service.ended).toMatchObject({ status: 0, signal: null });
    expect([said, existsSync(join(dir, 'asked'))]).toEqual(['begun\ndone\n', false]);
    expect(process.listenerCount('exit')).toBe(listeners);
  },
);
