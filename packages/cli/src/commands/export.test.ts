import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { runStubbed } from '../testing/stub-runtime.js';

it.skipIf(process.platform === 'win32')(
  'export writes behind a link with the permissions of what is there, and replaces nothing read-only and no device',
  async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'git-mesh-export-'));
    onTestFinished(() => {
      rmSync(cwd, { recursive: true, force: true });
    });
    const [real, link] = [join(cwd, 'real'), join(cwd, 'link')];
    writeFileSync(real, 'old');
    chmodSync(real, 0o640);
    symlinkSync('real', link);
    const exported = { file: real, branches: 2, commits: 5, left_out: [] };
    const run = (file: string) => runStubbed(['export', file], { cwd: () => cwd, results: { exportBundle: exported } });
    const done = await run('link');
    expect(done.out).toContain(`Wrote ${link}: `);
    expect(done.calls).toMatchObject([['inlineSync', 5000], ['exportBundle', { file: real, mode: 0o640 }], ['close']]);
    chmodSync(real, 0o400);
    for (const [file, why] of [
      ['link', 'it is read-only'],
      ['/dev/null', 'it is no regular file'],
      ['.', 'it is a folder'],
    ] as const) {
      const refused = await run(file);
      expect(refused).toMatchObject({ code: 2, calls: [['close']] });
      expect(refused.err).toContain(why);
    }
  },
);
