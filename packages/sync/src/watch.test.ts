import { appendFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { silentLogger } from '@git-mesh/core';
import type { RefName } from '@git-mesh/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GitFixture } from './testing/git-fixture.js';
import type { PathWatch } from './watch.js';
import { watchPaths } from './watch.js';

const studio = 'refs/heads/mesh/studio' as RefName;

describe('watchPaths', () => {
  let fixture: GitFixture;
  let changes: number;
  let watching: PathWatch | null;
  beforeEach(() => {
    fixture = new GitFixture();
    changes = 0;
    watching = null;
  });
  afterEach(() => {
    watching?.close();
    fixture.remove();
  });

  const start = (paths: string[]): void => {
    watching = watchPaths({ paths, onChange: () => (changes += 1), logger: silentLogger });
  };
  /** Resolves when nothing more comes in, so that what follows is counted on its own. */
  const settled = async (): Promise<void> => {
    for (let before = -1; before !== changes;) {
      before = changes;
      await new Promise((resolve) => setTimeout(resolve, 400));
    }
    changes = 0;
  };
  const seesWithinASecond = async (act: () => void): Promise<void> => {
    await settled();
    act();
    await expect.poll(() => changes, { timeout: 1_000, interval: 10 }).toBeGreaterThan(0);
  };

  it(
    'sees stock git move a ref in a bare repository, whatever happens to its folders',
    { timeout: 60_000 },
    async () => {
      const remote = fixture.bare('remote.git');
      const at = (path: string): string => fixture.path('remote.git', ...path.split('/'));
      const first = fixture.commit(remote, 'one');
      const second = fixture.commit(remote, 'two', [first]);
      start([at('refs/heads/mesh'), at('refs/heads'), at('packed-refs')]);

      await seesWithinASecond(() => {
        fixture.setRef(remote, studio, first);
      }); // the folder appears
      await seesWithinASecond(() => {
        fixture.setRef(remote, studio, second);
      });
      await seesWithinASecond(() => fixture.git(['-C', remote, 'pack-refs', '--all']));
      expect(existsSync(at('refs/heads/mesh/studio'))).toBe(false);
      await seesWithinASecond(() => {
        fixture.setRef(remote, studio, first);
      });
      await seesWithinASecond(() => {
        rmSync(at('refs/heads/mesh'), { recursive: true });
      });
      await seesWithinASecond(() => {
        fixture.setRef(remote, studio, second);
      });
      await seesWithinASecond(() => {
        fixture.setRef(remote, studio, first);
      });
      // Deleted and made anew at once.
      await seesWithinASecond(() => {
        rmSync(at('refs/heads/mesh'), { recursive: true });
        mkdirSync(at('refs/heads/mesh'));
      });
      await seesWithinASecond(() => {
        fixture.setRef(remote, studio, second);
      });
    },
  );

  it(
    'sees a file appended to, replaced by renaming, and made where its folder was missing',
    { timeout: 30_000 },
    async () => {
      const file = fixture.path('a', 'b', 'journal');
      start([file]);
      await settled();
      mkdirSync(fixture.path('a', 'b'), { recursive: true });
      writeFileSync(file, 'one\n');
      // Its folder's folder was missing too: only the poll sees that.
      await expect.poll(() => changes, { timeout: 3_000 }).toBeGreaterThan(0);
      await seesWithinASecond(() => {
        appendFileSync(file, 'two\n');
      });
      await seesWithinASecond(() => {
        writeFileSync(`${file}.tmp`, 'new\n');
        renameSync(`${file}.tmp`, file);
      });
      await seesWithinASecond(() => {
        rmSync(file);
      });
    },
  );

  it('takes no notice of neighbours, locks and temporary files', async () => {
    mkdirSync(fixture.path('mesh'));
    writeFileSync(fixture.path('mesh', 'journal'), '');
    start([fixture.path('mesh', 'journal')]);
    await settled();
    mkdirSync(fixture.path('mesh', 'worker.lock'));
    writeFileSync(fixture.path('mesh', 'x.tmp'), '');
    writeFileSync(fixture.path('mesh', 'other'), '');
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(changes).toBe(0);
  });

  it('calls once for a burst, and goes on calling in a steady stream', async () => {
    mkdirSync(fixture.path('folder'));
    start([fixture.path('folder')]);
    await settled();
    for (let n = 0; n < 50; n += 1) writeFileSync(fixture.path('folder', String(n)), '');
    await expect.poll(() => changes, { timeout: 1_000 }).toBeGreaterThan(0);
    await settled();
    const until = Date.now() + 300;
    for (let n = 0; Date.now() < until; n += 1) {
      writeFileSync(fixture.path('folder', `again-${n}`), '');
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(changes).toBeGreaterThan(3);
    expect(changes).toBeLessThan(60);
  });

  it('is quiet after close, and survives an error in what it calls', async () => {
    mkdirSync(fixture.path('folder'));
    const warnings: string[] = [];
    const both = watchPaths({
      paths: [fixture.path('folder')],
      onChange: () => {
        changes += 1;
        throw new Error('not now');
      },
      logger: { ...silentLogger, warn: (text) => warnings.push(text) },
    });
    watching = both;
    await seesWithinASecond(() => {
      writeFileSync(fixture.path('folder', 'a'), '');
    });
    await seesWithinASecond(() => {
      writeFileSync(fixture.path('folder', 'b'), '');
    });
    expect(warnings[0]).toContain('not now');
    await settled();
    both.close();
    both.close();
    writeFileSync(fixture.path('folder', 'c'), '');
    await settled();
    expect(changes).toBe(0);
  });
});
