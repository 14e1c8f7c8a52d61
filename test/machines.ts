import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type {
  AckResult,
  AdmitResult,
  AgentsResult,
  CheckinResult,
  CheckoutResult,
  DoctorResult,
  ErrorResult,
  ExportResult,
  GuardResult,
  ImportResult,
  InboxResult,
  MaintainResult,
  KeysResult,
  MembershipResult,
  RemotesResult,
  RevokeResult,
  SendResult,
  SentResult,
  StatusResult,
  SyncSummary,
  TraceResult,
  UnsendResult,
} from '@git-mesh/core';
import { cleanEnvironment, type Environment, launcher } from './environment.js';
import { McpSession } from './mcp-session.js';
import { processTree } from './process-tree.js';
import { endWithTest, scratch } from './scratch.js';
import { bareRemote, stockGit } from './stock-git.js';

export interface CommandResults {
  init: MembershipResult;
  join: MembershipResult;
  status: StatusResult;
  doctor: DoctorResult;
  maintain: MaintainResult;
  checkin: CheckinResult;
  checkout: CheckoutResult;
  agents: AgentsResult;
  send: SendResult;
  inbox: InboxResult;
  ack: AckResult;
  sent: SentResult;
  sync: SyncSummary;
  unsend: UnsendResult;
  trace: TraceResult;
  freeze: SendResult;
  unfreeze: { freezes: GuardResult['freezes']; sent: SendResult[] };
  guard: GuardResult;
  export: ExportResult;
  import: ImportResult;
  remote: RemotesResult;
  admit: AdmitResult;
  revoke: RevokeResult;
  keys: KeysResult;
}

export interface Ended {
  /** Null when a signal ended it. */
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

interface RunOptions {
  input?: string | Buffer;
  env?: Environment;
  /** Milliseconds after which the command is killed. */
  timeout?: number;
  /** The working directory; the machine's own folder when left out. */
  cwd?: string;
}

function parsed(args: readonly string[], ended: Ended): unknown {
  try {
    return JSON.parse(ended.stdout);
  } catch {
    const how = `exit ${ended.code ?? ended.signal ?? '?'}`;
    throw new Error(`git-mesh ${args.join(' ')}: ${how}, stdout is no JSON document\n${ended.stdout}\n${ended.stderr}`);
  }
}

/** One machine: a store and a home of its own in a folder of the running test. */
export class Machine {
  readonly handle: string;
  readonly root: string;
  readonly store: string;
  readonly env: Environment;

  constructor(root: string, handle: string, env: Environment = {}) {
    this.handle = handle;
    this.root = join(root, handle);
    mkdirSync(this.root, { recursive: true });
    this.store = join(this.root, 'store');
    this.env = cleanEnvironment(this.root, { GIT_MESH_DIR: this.store, ...env });
  }

  /** Starts the command and leaves it running; it is killed at the end of the test. */
  spawn(args: readonly string[], env: Environment = {}, cwd: string = this.root): ChildProcessWithoutNullStreams {
    const child = spawn(process.execPath, [launcher, ...args], { cwd, env: { ...this.env, ...env } });
    endWithTest(child);
    // A command that ends early closes its stdin: that is no failure of the test.
    child.stdin.on('error', () => undefined);
    return child;
  }

  /** Runs the command to its end; an exit code is a result, not an exception. */
  run(
    args: readonly string[],
    { input = '', env = {}, timeout = 60_000, cwd = this.root }: RunOptions = {},
  ): Promise<Ended> {
    return new Promise((resolve, reject) => {
      const child = this.spawn(args, env, cwd);
      let stdout = '';
      let stderr = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
      const startedAt = performance.now();
      const timer = setTimeout(() => {
        // The cause of a command that hangs is seen while it does, or never.
        const seconds = Math.round((performance.now() - startedAt) / 1000);
        stderr += `\nkilled after ${seconds} s, when this ran:\n${processTree(child.pid ?? 0)}\n`;
        child.kill('SIGKILL');
      }, timeout);
      child.on('error', reject);
      child.on('close', (code, signal) => {
        clearTimeout(timer);
        resolve({ code, signal, stdout, stderr });
      });
      child.stdin.end(input);
    });
  }

  /** The result of a command with `--json`. @throws Error unless it exits with 0. */
  async json<C extends keyof CommandResults>(
    [command, ...args]: readonly [C, ...string[]],
    options: RunOptions = {},
  ): Promise<CommandResults[C]> {
    const line = [command, ...args, '--json'];
    const ended = await this.run(line, options);
    if (ended.code !== 0) {
      const how = `exit ${ended.code ?? ended.signal ?? '?'}`;
      throw new Error(`git-mesh ${line.join(' ')} on ${this.handle}: ${how}\n${ended.stdout}\n${ended.stderr}`);
    }
    return parsed(line, ended) as CommandResults[C];
  }

  /** The error of a command with `--json`, and its exit code. @throws Error when it succeeds. */
  async refused(
    [command, ...args]: readonly [string, ...string[]],
    options: RunOptions = {},
  ): Promise<ErrorResult['error'] & { exitCode: number | null }> {
    // Before the arguments: behind a `--` it would be one.
    const line = [command, '--json', ...args];
    const ended = await this.run(line, options);
    if (ended.code === 0) throw new Error(`git-mesh ${line.join(' ')} was accepted: ${ended.stdout}`);
    return { ...(parsed(line, ended) as ErrorResult).error, exitCode: ended.code };
  }

  mcp(options: { args?: string[]; env?: Environment; cwd?: string } = {}): Promise<McpSession> {
    return McpSession.start({ cwd: this.root, ...options, env: { ...this.env, ...options.env } });
  }

  /** Stock git on the store. */
  git(args: readonly string[]): string {
    return stockGit(['--git-dir', this.store, ...args]);
  }

  /** The number of commits on the machine's own branch. */
  commits(): number {
    return Number(this.git(['rev-list', '--count', `refs/heads/mesh/${this.handle}`]));
  }
}

type Machines<H extends readonly string[]> = { [K in keyof H]: Machine };

/** Machines that share a new bare repository: the first one makes the mesh, the others join. */
export async function mesh<const H extends readonly [string, ...string[]]>(
  handles: H,
): Promise<{ machines: Machines<H>; remote: string; root: string }> {
  const root = scratch();
  const remote = bareRemote(root);
  const machines = handles.map((handle) => new Machine(root, handle));
  for (const [index, machine] of machines.entries()) {
    if (index === 0) await machine.json(['init', '--remote', remote, '--machine', machine.handle]);
    else await machine.json(['join', remote, '--machine', machine.handle]);
  }
  // One machine was made for each handle, in their order.
  return { machines: machines as Machines<H>, remote, root };
}

/** A mesh of one machine without a remote: what is sent to itself arrives at once. */
export async function solo(handle = 'solo'): Promise<Machine> {
  const machine = new Machine(scratch(), handle);
  await machine.json(['init', '--machine', handle]);
  return machine;
}
