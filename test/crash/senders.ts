import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { join } from 'node:path';
import { workspaceRoot } from '../environment.js';
import type { Machine } from '../machines.js';
import { endWithTest } from '../scratch.js';

/** A process that sends to its own machine, and the ids of the sends that it was told had succeeded. */
export interface Sender {
  process: ChildProcessWithoutNullStreams;
  /** Grows as lines arrive. */
  ids: string[];
  stderr(): string;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Resolves when `count` sends have been reported, or rejects when the process ends before. */
  reported(count: number): Promise<void>;
}

export function startSender(machine: Machine, label: string, count?: number): Sender {
  const program = join(workspaceRoot, 'test/dist/crash/sender.js');
  const args = [program, machine.store, label, ...(count === undefined ? [] : [String(count)])];
  const child = spawn(process.execPath, args, { cwd: machine.root, env: machine.env });
  endWithTest(child);
  const ids: string[] = [];
  let stderr = '';
  let partial = '';
  let wake: () => void = () => undefined;
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (partial + text).split('\n');
    partial = lines.pop() ?? '';
    ids.push(...lines);
    wake();
  });
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.on('close', (code, signal) => {
      resolve({ code, signal });
      wake();
    });
  });
  const reported = async (wanted: number): Promise<void> => {
    while (ids.length < wanted) {
      if (child.exitCode !== null || child.signalCode !== null) {
        throw new Error(`the sender ended after ${ids.length} of ${wanted} sends\n${stderr}`);
      }
      await new Promise<void>((resolve) => (wake = resolve));
    }
  };
  return { process: child, ids, stderr: () => stderr, ended, reported };
}

/** Every message that an agent's inbox holds, page by page. */
export async function wholeInbox(machine: Machine, agent: string): Promise<{ id: string; message_id: number }[]> {
  const all: { id: string; message_id: number }[] = [];
  for (;;) {
    const after = all.at(-1)?.message_id;
    const more = after === undefined ? [] : ['--after', String(after)];
    const page = await machine.json(['inbox', agent, '--limit', '100', ...more]);
    all.push(...page.messages.map(({ id, message_id }) => ({ id, message_id })));
    if (page.remaining === 0) return all;
    if (page.messages.length === 0) throw new Error(`an empty page with ${page.remaining} remaining`);
  }
}

/** The messages that the commits of a branch say were sent, oldest first. */
export function sentByCommits(machine: Machine): string[] {
  const format =
    '--format=%(trailers:key=Mesh-Event,valueonly,separator=)|%(trailers:key=Mesh-Message,valueonly,separator=%x2C)';
  const log = machine.git(['log', '--reverse', format, `refs/heads/mesh/${machine.handle}`]);
  return log
    .split('\n')
    .filter((line) => line.startsWith('send|'))
    .flatMap((line) => line.slice('send|'.length).split(','));
}

/** The messages in the tip of the machine's branch. */
export function sentByFiles(machine: Machine): string[] {
  const paths = machine.git(['ls-tree', '-r', '--name-only', `refs/heads/mesh/${machine.handle}`, 'messages/']);
  return paths.split('\n').map((path) => path.slice(path.lastIndexOf('/') + 1, -'.yaml'.length));
}
