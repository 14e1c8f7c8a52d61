import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Oid, RefName } from '@git-mesh/core';
import { isOid } from '@git-mesh/core';
import { gitEnv } from '../git-env.js';

/** A throw-away folder with stock git in it, whatever the user's configuration is. */
export class GitFixture {
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;

  constructor() {
    this.root = mkdtempSync(join(tmpdir(), 'git-mesh-sync-'));
    const who = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@x.invalid' };
    this.env = { ...gitEnv(process.env), ...who, GIT_COMMITTER_NAME: 'c', GIT_COMMITTER_EMAIL: 'c@x.invalid' };
  }

  path(...parts: string[]): string {
    return join(this.root, ...parts);
  }

  git(args: readonly string[], input?: string | Uint8Array): string {
    return this.gitBytes(args, input).toString('utf8').trim();
  }

  gitBytes(args: readonly string[], input?: string | Uint8Array): Buffer {
    const options = { env: this.env, cwd: this.root, stdio: ['pipe', 'pipe', 'pipe'] as const, maxBuffer: 1 << 30 };
    return execFileSync('git', args, {
      ...options,
      stdio: [...options.stdio],
      ...(input === undefined ? {} : { input }),
    });
  }

  /** A bare repository named `name`; its path. */
  bare(name: string, ...options: string[]): string {
    this.git(['init', '--quiet', '--bare', '--initial-branch=main', ...options, this.path(name)]);
    return this.path(name);
  }

  /** A commit of one file in the bare repository, on no ref. */
  commit(repository: string, content: string, parents: readonly Oid[] = []): Oid {
    const blob = this.git(['-C', repository, 'hash-object', '-w', '--stdin'], content);
    const tree = this.git(['-C', repository, 'mktree'], `100644 blob ${blob}\tfile.txt\n`);
    const from = parents.flatMap((parent) => ['-p', parent]);
    return oid(this.git(['-C', repository, 'commit-tree', ...from, '-m', content.slice(0, 40), tree]));
  }

  setRef(repository: string, ref: RefName, to: Oid): void {
    this.git(['-C', repository, 'update-ref', ref, to]);
  }

  refs(repository: string): Map<RefName, Oid> {
    const lines = this.git(['-C', repository, 'for-each-ref', '--format=%(refname) %(objectname)']).split('\n');
    const pairs = lines.filter((line) => line !== '').map((line) => line.split(' '));
    return new Map(pairs.map(([ref = '', id = '']) => [ref as RefName, oid(id)]));
  }

  /** The pack of everything that `wants` need and `haves` lack. */
  pack(repository: string, wants: readonly Oid[], haves: readonly Oid[] = []): Uint8Array {
    const revisions = [...wants, ...haves.map((have) => `^${have}`)].join('\n');
    return this.gitBytes(['-C', repository, 'pack-objects', '--revs', '--stdout', '--quiet'], `${revisions}\n`);
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
  }
}

function oid(text: string): Oid {
  if (!isOid(text)) throw new Error(`git printed no object id: ${text}`);
  return text;
}
