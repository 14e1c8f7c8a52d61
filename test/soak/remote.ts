import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bareRemote, stockGit } from '../stock-git.js';

const run = promisify(execFile);
const noCommit = /^0+$/;

/** Pushes wait and are refused as files in a control folder say; one that was taken is noted there. */
const preReceive = (control: string): string => `#!/bin/sh
control='${control}'
if [ -f "$control/delay" ]; then sleep "$(cat "$control/delay" 2>/dev/null || echo 0)"; fi
if [ -f "$control/refuse" ]; then
  dice=$(od -An -N2 -tu2 /dev/urandom)
  if [ $((dice % 100)) -lt "$(cat "$control/refuse" 2>/dev/null || echo 0)" ]; then
    echo refused >> "$control/refused"
    echo 'no pushes are taken now' >&2
    exit 1
  fi
fi
exit 0
`;
const postReceive = (control: string): string => `#!/bin/sh
cat >> '${control}/updates'
`;

/** The bare repository that all machines share, and what goes wrong with it. */
export class SoakRemote {
  readonly path: string;
  readonly #away: string;
  readonly #control: string;

  constructor(root: string) {
    this.path = bareRemote(root);
    this.#away = `${this.path}.away`;
    this.#control = join(root, 'control');
    mkdirSync(this.#control);
    for (const [name, text] of [
      ['pre-receive', preReceive(this.#control)],
      ['post-receive', postReceive(this.#control)],
    ] as const) {
      const hook = join(this.path, 'hooks', name);
      mkdirSync(join(this.path, 'hooks'), { recursive: true });
      writeFileSync(hook, text);
      chmodSync(hook, 0o755);
    }
  }

  goAway(): void {
    // On a slow machine it may be away still.
    if (existsSync(this.path)) renameSync(this.path, this.#away);
  }

  comeBack(): void {
    if (existsSync(this.#away)) renameSync(this.#away, this.path);
  }

  delayPushes(ms: number): void {
    writeFileSync(join(this.#control, 'delay'), String(ms / 1000));
  }

  refusePushes(percent: number): void {
    writeFileSync(join(this.#control, 'refuse'), String(percent));
  }

  /** Lifts whatever was done to it. */
  restore(): void {
    rmSync(join(this.#control, 'delay'), { force: true });
    rmSync(join(this.#control, 'refuse'), { force: true });
    this.comeBack();
  }

  liftDelay(): void {
    rmSync(join(this.#control, 'delay'), { force: true });
  }

  liftRefusal(): void {
    rmSync(join(this.#control, 'refuse'), { force: true });
  }

  get refusals(): number {
    return this.#lines('refused').length;
  }

  #lines(name: string): string[] {
    const file = join(this.#control, name);
    if (!existsSync(file)) return [];
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  }

  /** ULIDs of the messages in the tip of a machine's branch here, wherever the repository is now. */
  async messagesOf(handle: string): Promise<Set<string>> {
    const args = ['ls-tree', '-r', '--name-only', `refs/heads/mesh/${handle}`, 'messages/'];
    for (let tries = 0; ; tries++) {
      const dir = existsSync(this.path) ? this.path : this.#away;
      try {
        const { stdout } = await run('git', ['--git-dir', dir, ...args], { maxBuffer: 1 << 26 });
        return new Set(stdout.split('\n').map((path) => path.slice(path.lastIndexOf('/') + 1, -'.yaml'.length)));
      } catch (error) {
        // It was renamed between the look and the reading.
        if (tries >= 3) throw error;
      }
    }
  }

  /** Updates of a branch that took commits away from it: each of them should have been refused to whoever pushed. */
  forcedUpdates(): string[] {
    const forced: string[] = [];
    const depths = new Map<string, Map<string, number>>();
    for (const line of this.#lines('updates')) {
      const [before = '', after = '', ref = ''] = line.split(' ');
      if (!ref.startsWith('refs/heads/mesh/')) continue;
      let depth = depths.get(ref);
      if (depth === undefined) {
        const commits = stockGit(['--git-dir', this.path, 'rev-list', '--reverse', ref]).split('\n');
        depth = new Map(commits.map((commit, index) => [commit, index]));
        depths.set(ref, depth);
      }
      const [from, to] = [noCommit.test(before) ? -1 : depth.get(before), depth.get(after)];
      if (from === undefined || to === undefined || to <= from) forced.push(line);
    }
    return forced;
  }
}
