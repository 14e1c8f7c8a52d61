import type { ErrorResult } from '@git-mesh/core';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { appendFileSync } from 'node:fs';
import type { ToolName, ToolResults } from '../mcp-session.js';
import { type Answer, now, refused } from './answer.js';
import type { ProcessOptions, ResidentProcess } from './resident-process.js';

/** A call that takes longer has hung: more than any pause and any wait for the store together. */
const callLimitMs = 90_000;

interface Connected {
  client: Client;
  pid: number;
  ended: Promise<void>;
  isOver: boolean;
  /** We ended it ourselves. */
  isKilled: boolean;
  /** Checked in over this connection. */
  agents: Set<string>;
}

/** An MCP server of a machine with its one client, started anew whenever it was killed. */
export class ServerProcess implements ResidentProcess {
  readonly name: string;
  readonly #options: ProcessOptions;
  #now: Connected | null = null;
  #waiting: (() => void)[] = [];
  #called: (() => void)[] = [];

  constructor(name: string, options: ProcessOptions) {
    this.name = name;
    this.#options = options;
  }

  async start(): Promise<void> {
    const { launcher, cwd, env, log } = this.#options;
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [launcher, 'mcp'],
      env,
      cwd,
      stderr: 'pipe',
    });
    transport.stderr?.on('data', (chunk: Buffer) => {
      appendFileSync(log, chunk);
    });
    const client = new Client({ name: 'soak', version: '1.0.0' });
    const connected: Connected = {
      client,
      pid: 0,
      ended: Promise.resolve(),
      isOver: false,
      isKilled: false,
      agents: new Set(),
    };
    connected.ended = new Promise((resolve) => {
      client.onclose = () => {
        connected.isOver = true;
        if (!connected.isKilled) this.#options.onUnexpectedEnd(`${this.name} ended by itself; see ${log}`);
        resolve();
      };
    });
    try {
      await client.connect(transport, { timeout: callLimitMs });
      connected.pid = transport.pid ?? 0;
      // From here on the client checks every result against the tool's output schema.
      await client.listTools();
    } catch (error) {
      this.#options.onUnexpectedEnd(`${this.name} did not start: ${String(error)}`);
      throw error;
    }
    this.#now = connected;
    for (const go of this.#waiting.splice(0)) go();
  }

  get pid(): number | null {
    return this.#now === null || this.#now.isOver ? null : this.#now.pid;
  }

  /** The agent that the connection stands for: its only one. */
  get onlyAgent(): string | null {
    const [only, ...more] = this.#now?.agents ?? [];
    return more.length > 0 ? null : (only ?? null);
  }

  /** Resolves when it runs, or after `ms`. */
  async running(ms: number): Promise<boolean> {
    if (this.pid === null) await within(ms, new Promise<void>((resolve) => this.#waiting.push(resolve)));
    return this.pid !== null;
  }

  /** Resolves when the next call begins, or after `ms`. */
  async nextCall(ms: number): Promise<void> {
    await within(ms, new Promise<void>((resolve) => this.#called.push(resolve)));
  }

  async call<N extends ToolName>(name: N, args: Record<string, unknown>): Promise<Answer<ToolResults[N]>> {
    const connected = this.#now;
    if (connected === null || connected.isOver) return { outcome: 'unknown', error: 'not running', endedAt: now() };
    for (const go of this.#called.splice(0)) go();
    try {
      const result = await connected.client.callTool({ name, arguments: args }, undefined, { timeout: callLimitMs });
      if (result.isError === true) {
        return refused((result.structuredContent as ErrorResult | undefined)?.error, (text) => {
          this.#options.onBadAnswer(`${this.name}: ${name} ${JSON.stringify(args)}: ${text}`);
        });
      }
      noteAgent(connected.agents, name, args);
      // The client has checked it against the tool's output schema.
      return { outcome: 'accepted', value: result.structuredContent as ToolResults[N], endedAt: now() };
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      if (!isGone(connected)) {
        this.#options.onBadAnswer(`${this.name}: ${name} ${JSON.stringify(args)}: ${text}`);
        return { outcome: 'unknown', error: text, endedAt: Infinity };
      }
      await connected.ended;
      return { outcome: 'unknown', error: text, endedAt: now() };
    }
  }

  async kill(): Promise<boolean> {
    const connected = this.#now;
    if (connected === null || connected.isOver || connected.isKilled) return false;
    connected.isKilled = true;
    process.kill(connected.pid, 'SIGKILL');
    await connected.ended;
    return true;
  }

  signal(pid: number, signal: 'SIGSTOP' | 'SIGCONT'): boolean {
    const connected = this.#now;
    if (connected?.pid !== pid || connected.isOver) return false;
    process.kill(pid, signal);
    return true;
  }

  async isWell(): Promise<boolean> {
    return (await this.call('agent_mesh_status', {})).outcome === 'accepted';
  }

  async stop(): Promise<void> {
    const connected = this.#now;
    if (connected === null || connected.isOver) return;
    connected.isKilled = true;
    await connected.client.close();
    await connected.ended;
  }
}

/** A function, since it changes during any await, which the compiler would not believe of the fields. */
const isGone = ({ isOver, isKilled }: Connected): boolean => isOver || isKilled;

function noteAgent(agents: Set<string>, tool: ToolName, { agent_id: agent }: Record<string, unknown>): void {
  if (typeof agent !== 'string') return;
  if (tool === 'agent_checkin') agents.add(agent);
  if (tool === 'agent_checkout') agents.delete(agent);
}

async function within(ms: number, event: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([event, late]);
  clearTimeout(timer);
}
