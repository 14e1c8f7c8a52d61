import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Environment } from './environment.js';
import { stockGit } from './stock-git.js';

/** Hooks that git knows; each of ours fails, so that a hook that runs is noticed even if its mark were not. */
const hookNames = [
  ...['reference-transaction', 'pre-push', 'post-commit', 'pre-commit', 'commit-msg', 'prepare-commit-msg'],
  ...['post-checkout', 'post-index-change', 'pre-receive', 'update', 'post-receive', 'post-update', 'post-merge'],
  ...['pre-auto-gc', 'push-to-checkout', 'proc-receive', 'fsmonitor-watchman'],
];

function program(path: string, lines: readonly string[]): string {
  writeFileSync(path, ['#!/bin/sh', ...lines, ''].join('\n'));
  chmodSync(path, 0o755);
  return path;
}

const quoted = (text: string): string => `"${text.replace(/[\\"]/g, '\\$&')}"`;

/** What a user's own set-up can do to a program that uses git, in a folder of its own. */
export interface HostileGit {
  home: string;
  /** Names of the hooks and programs of the user that ran. */
  ran(): string[];
  /** What a hook of the repository at `gitDir` has in its environment, and worse. */
  env(gitDir: string, workTree: string): Environment;
}

/**
 * The programs and their marks are beside `root`, whose own name no shell may have to understand, or they would fail
 * unnoticed. `remotes` are paths that the user's url.insteadOf
 * sends elsewhere.
 */
export function hostileGit(root: string, remotes: readonly string[]): HostileGit {
  const home = join(root, 'hostile home');
  const marks = join(dirname(root), 'marks');
  const programs = join(dirname(root), 'programs');
  const hooks = join(home, 'hooks of mine');
  const template = join(home, 'template', 'hooks');
  for (const folder of [home, marks, programs, hooks, template]) mkdirSync(folder, { recursive: true });
  const mark = (name: string): string => `: > '${join(marks, name)}'`;
  for (const name of hookNames) {
    program(join(hooks, name), [mark(`hook ${name}`), 'exit 1']);
    program(join(template, name), [mark(`template ${name}`), 'exit 1']);
  }
  const fails = (name: string): string => program(join(programs, name), [mark(name), 'exit 1']);
  const hangs = (name: string): string => program(join(programs, name), [mark(name), 'exec sleep 600']);
  const [gpg, fsmonitor, packHook, ssh, askpass] = [
    hangs('gpg'),
    fails('fsmonitor'),
    fails('pack-objects'),
    fails('ssh'),
    hangs('askpass'),
  ];
  writeFileSync(join(home, 'attributes'), '* filter=mine text eol=crlf\n');
  writeFileSync(
    join(home, '.gitconfig'),
    `[core]
	hooksPath = ${quoted(hooks)}
	autocrlf = true
	safecrlf = true
	eol = crlf
	attributesFile = ${quoted(join(home, 'attributes'))}
	fsmonitor = ${quoted(fsmonitor)}
	sshCommand = ${quoted(ssh)}
	askPass = ${quoted(askpass)}
	editor = ${quoted(hangs('editor'))}
	pager = ${quoted(hangs('pager'))}
	logAllRefUpdates = always
	bigFileThreshold = 1
[filter "mine"]
	clean = ${quoted(fails('clean'))}
	smudge = ${quoted(fails('smudge'))}
	required
[user]
	useConfigOnly = true
[commit]
	gpgSign = true
[push]
	gpgSign = true
	default = nothing
[gpg]
	program = ${quoted(gpg)}
[gpg "ssh"]
	program = ${quoted(gpg)}
[init]
	templateDir = ${quoted(join(home, 'template'))}
	defaultBranch = stamm
	defaultObjectFormat = sha256
	defaultRefFormat = reftable
[protocol]
	version = 1
	allow = never
[protocol "file"]
	allow = never
[transfer]
	fsckObjects = true
	hideRefs = refs/heads
[receive]
	fsckObjects = true
	procReceiveRefs = refs/heads
	denyNonFastForwards = true
[uploadpack]
	packObjectsHook = ${quoted(packHook)}
[safe]
	bareRepository = explicit
[gc]
	auto = 1
	autoDetach = false
[credential]
	helper = ${quoted(`!${hangs('credential')}`)}
${remotes.map((path) => `[url "file:///nowhere/else"]\n\tinsteadOf = ${quoted(path)}\n\tpushInsteadOf = ${quoted(path)}\n`).join('')}`,
  );
  return {
    home,
    ran: () => readdirSync(marks).sort(),
    env: (gitDir, workTree) => ({
      HOME: home,
      GIT_DIR: gitDir,
      GIT_WORK_TREE: workTree,
      GIT_INDEX_FILE: join(gitDir, 'index'),
      GIT_OBJECT_DIRECTORY: join(gitDir, 'objects'),
      GIT_ALTERNATE_OBJECT_DIRECTORIES: join(root, 'no such folder'),
      GIT_QUARANTINE_PATH: join(gitDir, 'objects'),
      GIT_PREFIX: 'src/',
      GIT_NAMESPACE: 'mine',
      GIT_CONFIG_COUNT: '2',
      GIT_CONFIG_KEY_0: 'core.hooksPath',
      GIT_CONFIG_VALUE_0: hooks,
      GIT_CONFIG_KEY_1: 'core.fsmonitor',
      GIT_CONFIG_VALUE_1: fsmonitor,
      GIT_CONFIG_PARAMETERS: `'commit.gpgsign'='true'`,
      GIT_TEMPLATE_DIR: join(home, 'template'),
      GIT_DEFAULT_HASH: 'sha256',
      GIT_ALLOW_PROTOCOL: 'none',
      GIT_PROTOCOL: 'version=1',
      GIT_SSH_COMMAND: ssh,
      GIT_ASKPASS: askpass,
      SSH_ASKPASS: askpass,
      GIT_EDITOR: join(programs, 'editor'),
      EDITOR: join(programs, 'editor'),
      GIT_PAGER: join(programs, 'pager'),
      PAGER: join(programs, 'pager'),
      GIT_EXTERNAL_DIFF: fails('diff'),
      GIT_AUTHOR_DATE: '2001-01-01T00:00:00Z',
      GIT_COMMITTER_DATE: '2001-01-01T00:00:00Z',
      GIT_AUTHOR_NAME: 'somebody else',
      GIT_COMMITTER_EMAIL: 'else@example.invalid',
    }),
  };
}

/** A user's repositories: one with changes of every kind in its work tree, a linked work tree of it, a bare clone. */
export function userRepositories(folder: string): { work: string; linked: string; bare: string } {
  const work = join(folder, 'work träe');
  const linked = join(folder, 'linked 木');
  const bare = join(folder, 'bare clone.git');
  mkdirSync(join(work, 'src'), { recursive: true });
  const git = (...args: string[]): string => stockGit(args, { cwd: work });
  git('init', '-q', '-b', 'main');
  writeFileSync(join(work, 'src', 'crlf.txt'), 'one\r\ntwo\r\n');
  writeFileSync(join(work, 'ñandú .txt'), 'unchanged\n');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  git('tag', '-a', '-m', 'a tag', 'v1');
  git('branch', 'packed');
  git('pack-refs', '--all');
  git('worktree', 'add', '-q', '-b', 'linked', linked);
  git('clone', '-q', '--bare', work, bare);
  writeFileSync(join(work, 'src', 'crlf.txt'), 'one\r\nchanged\r\n');
  writeFileSync(join(work, 'staged'), 'staged\n');
  git('add', 'staged');
  writeFileSync(join(work, 'untracked'), 'untracked\n');
  return { work, linked, bare };
}

/** Every file and folder below `folder`: its mode, when it was written last, and its content. */
export function fingerprint(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const path = join(folder, name);
      const stat = lstatSync(path);
      const content = stat.isFile()
        ? createHash('sha256').update(readFileSync(path)).digest('hex')
        : stat.isSymbolicLink()
          ? readlinkSync(path)
          : '';
      return `${name} ${stat.mode.toString(8)} ${stat.mtimeMs} ${content}`;
    });
}

/** True where nothing of a template or of a user's hooks was put. */
export function hasNoHooks(store: string): boolean {
  return !existsSync(join(store, 'hooks'));
}
