import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { type Environment, launcher } from '../environment.js';

/** Milliseconds of processor time that the live threads of a process have had. Linux only; NaN elsewhere. */
export function cpuOf(pid: number): number {
  if (process.platform !== 'linux') return NaN;
  let nanoseconds = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const [onCpu] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
    nanoseconds += Number(onCpu);
  }
  return nanoseconds / 1e6;
}

/** MiB of memory that a process holds. Linux only; NaN elsewhere. */
export function residentMib(pid: number): number {
  if (process.platform !== 'linux') return NaN;
  const kib = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib) / 1024;
}

/** A server spoken to in plain lines: a client's own library would be measured with it. */
export class ServerProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: Interface;
  #nextId = 0;

  constructor(options: { env: Environment; cwd: string }) {
    this.#child = spawn(process.execPath, [launcher, 'mcp'], { ...options, stdio: ['pipe', 'pipe', 'ignore'] });
    this.#lines = createInterface(this.#child.stdout);
  }

  get pid(): number {
    const { pid } = this.#child;
    if (pid === undefined) throw new Error('the server did not start');
    return pid;
  }

  /** Initialises the session and gets the tools. */
  async listTools(): Promise<void> {
    const clientInfo = { name: 'bench', version: '1' };
    await this.request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
    this.#send({ method: 'notifications/initialized' });
    await this.request('tools/list', {});
  }

  async call(name: string, args: Record<string, unknown>): Promise<void> {
    const answer = await this.request('tools/call', { name, arguments: args });
    if (answer.includes('"isError":true')) throw new Error(`${name} failed: ${answer}`);
  }

  /** The answer's line. One request at a time. @throws Error where it is an error. */
  async request(method: string, params: object): Promise<string> {
    const answered = once(this.#lines, 'line');
    this.#send({ id: this.#nextId++, method, params });
    const [line] = (await answered) as [string];
    if (line.includes('"error":{"code":-')) throw new Error(`${method} failed: ${line}`);
    return line;
  }

  #send(message: object): void {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  async end(): Promise<void> {
    const gone = once(this.#child, 'exit');
    this.#child.stdin.end();
    await gone;
  }
}
