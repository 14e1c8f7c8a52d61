import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import type { GitFixture } from './git-fixture.js';

/** A git before the real one on PATH that notes what this process starts; not what git itself does. Not on Windows. */
export class CountedGit {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly #log: string;

  constructor(fixture: GitFixture) {
    this.#log = fixture.path('git-runs');
    const folder = fixture.path('counted');
    const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    const program = fixture.path('counted', 'git');
    mkdirSync(folder);
    writeFileSync(
      program,
      `#!/bin/sh\nfor word in "$@"; do case "$word" in -c|core.*) ;; *) break;; esac; done\necho "$word" >> '${this.#log}'\nexec '${real}' "$@"\n`,
    );
    chmodSync(program, 0o755);
    this.env = { ...process.env, PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}` };
  }

  /** git's commands since the last call, in their order. */
  taken(): string[] {
    if (!existsSync(this.#log)) return [];
    const words = readFileSync(this.#log, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
    rmSync(this.#log);
    return words;
  }
}
