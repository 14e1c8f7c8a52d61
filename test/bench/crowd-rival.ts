import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { cleanEnvironment, type Environment } from '../environment.js';
import { bareRemote } from '../stock-git.js';
import { type Crowd, messagesEach, notePushes } from './crowd.js';

const branch = 'shared';
const lookEveryMs = 1_000;

interface Options {
  machines: number;
  /** All of a machine's messages in one push; otherwise each is pushed before the next is made. */
  isBatched: boolean;
  limitMs: number;
}

/**
 * Clones of one shared branch: each commits its messages, rebases and pushes until it is let in, and then pulls each
 * second until it has those of all.
 */
export async function rivalCrowd(root: string, { machines, isBatched, limitMs }: Options): Promise<Crowd> {
  const remote = bareRemote(root);
  const env = cleanEnvironment(root, { GIT_CONFIG_GLOBAL: process.platform === 'win32' ? 'NUL' : '/dev/null' });
  const clones = await gather(root, remote, { machines, env });
  notePushes(remote);
  const started = Date.now();
  const isOver = (): boolean => Date.now() - started > limitMs;
  const sent = new Map<string, { accepted: number; remote: number }>();
  let attempts = 0;
  const delivered: number[] = [];
  let last = started;
  await Promise.all(
    clones.map(async (clone, index) => {
      const push = async (names: readonly string[]): Promise<void> => {
        while (!isOver()) {
          attempts += 1;
          const isIn =
            (await git(clone, env, ['pull', '-q', '--rebase', 'origin', branch])) &&
            (await git(clone, env, ['push', '-q', 'origin', `HEAD:${branch}`]));
          if (isIn) {
            for (const name of names) {
              const { accepted = NaN } = sent.get(name) ?? {};
              sent.set(name, { accepted, remote: Date.now() });
            }
            return;
          }
        }
      };
      const names: string[] = [];
      for (let n = 0; n < messagesEach && !isOver(); n++) {
        const name = `m${index}-${n}.yaml`;
        writeFileSync(join(clone, 'messages', name), `from: m${index}\nn: ${n}\n`);
        await git(clone, env, ['add', `messages/${name}`]);
        await git(clone, env, ['commit', '-q', '-m', `send ${name}`]);
        sent.set(name, { accepted: Date.now(), remote: NaN });
        if (isBatched) names.push(name);
        else await push([name]);
      }
      if (isBatched) await push(names);
      const seen = new Set<string>();
      while (!isOver()) {
        await git(clone, env, ['pull', '-q', '--rebase', 'origin', branch]);
        const now = Date.now();
        for (const name of readdirSync(join(clone, 'messages'))) {
          const message = sent.get(name);
          if (seen.has(name) || message === undefined || name.startsWith(`m${index}-`)) continue;
          seen.add(name);
          delivered.push(now - message.accepted);
        }
        last = Math.max(last, now);
        if (seen.size >= (machines - 1) * messagesEach) return;
        await pause(lookEveryMs);
      }
    }),
  );
  const wanted = machines * messagesEach * (machines - 1);
  return {
    who: isBatched ? 'git, one branch, a push for ten' : 'git, one branch, a push each',
    machines,
    allMs: delivered.length < wanted ? null : last - started,
    pushesAMessage: attempts / (machines * messagesEach),
    toRemote: [...sent.values()].map(({ accepted, remote: at }) => at - accepted).filter((ms) => !Number.isNaN(ms)),
    toDelivered: delivered,
    delivered: delivered.length / wanted,
  };
}

async function gather(
  root: string,
  remote: string,
  { machines, env }: { machines: number; env: Environment },
): Promise<string[]> {
  const clones: string[] = [];
  for (let n = 0; n < machines; n++) {
    const clone = join(root, `m${n}`);
    await git(root, env, ['clone', '-q', remote, clone]);
    for (const [key, value] of [
      ['user.name', `m${n}`],
      ['user.email', `m${n}@example.invalid`],
      ['gc.auto', '0'],
      ['maintenance.auto', 'false'],
    ]) {
      await git(clone, env, ['config', key ?? '', value ?? '']);
    }
    if (n === 0) {
      mkdirSync(join(clone, 'messages'));
      writeFileSync(join(clone, 'messages', 'first'), 'first\n');
      await git(clone, env, ['checkout', '-q', '-b', branch]);
      await git(clone, env, ['add', '.']);
      await git(clone, env, ['commit', '-q', '-m', 'first']);
      await git(clone, env, ['push', '-q', 'origin', branch]);
    } else {
      await git(clone, env, ['checkout', '-q', '-b', branch, `origin/${branch}`]);
    }
    clones.push(clone);
  }
  return clones;
}

/** Whether it ended well. */
function git(cwd: string, env: Environment, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn('git', args, { cwd, env, stdio: 'ignore' });
    child.on('error', () => {
      resolve(false);
    });
    child.on('close', (code) => {
      resolve(code === 0);
    });
  });
}
