import type {
  AckResult,
  AgentsResult,
  CheckinDone,
  CheckinResult,
  CheckoutResult,
  ErrorResult,
  InboxResult,
  MembershipResult,
  SendResult,
  SentResult,
  StatusResult,
} from '@git-mesh/core';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { onTestFinished } from 'vitest';
import { launcher } from './environment.js';

export interface ToolResults {
  agent_checkin: CheckinResult;
  agents_list: AgentsResult;
  agent_send: SendResult;
  agent_inbox: InboxResult;
  agent_ack: AckResult;
  agent_sent: SentResult;
  agent_checkout: CheckoutResult;
  agent_mesh_status: StatusResult;
  agent_mesh_create: MembershipResult & { preview: boolean };
  agent_mesh_join: MembershipResult & { preview: boolean };
}
export type ToolName = keyof ToolResults;
type Arguments = Record<string, unknown>;

/** How a tool call ended that the server answered with an error result. */
export interface Refusal extends Record<string, unknown> {
  code: number;
  name: string;
  message: string;
  /** The text that a model sees. */
  text: string;
}

interface Answer {
  isError: boolean;
  structured: unknown;
  text: string;
}

/** An agent's client, connected over stdio to a server process of its own. */
export class McpSession {
  readonly client: Client;
  readonly #transport: StdioClientTransport;
  #stderr = '';

  private constructor(client: Client, transport: StdioClientTransport) {
    this.client = client;
    this.#transport = transport;
    transport.stderr?.on('data', (chunk: Buffer) => (this.#stderr += chunk.toString()));
  }

  static async start(options: { cwd: string; env: Record<string, string>; args?: string[] }): Promise<McpSession> {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [launcher, 'mcp', ...(options.args ?? [])],
      env: options.env,
      cwd: options.cwd,
      stderr: 'pipe',
    });
    const client = new Client({ name: 'across', version: '1.0.0' });
    const session = new McpSession(client, transport);
    onTestFinished(() => session.close());
    await client.connect(transport);
    // From here on the client checks every result against the tool's output schema.
    await client.listTools();
    return session;
  }

  get pid(): number {
    const pid = this.#transport.pid;
    if (pid === null) throw new Error('the server has ended');
    return pid;
  }

  get stderr(): string {
    return this.#stderr;
  }

  async #answer(name: ToolName, args: Arguments): Promise<Answer> {
    const result = await this.client.callTool({ name, arguments: args });
    const content = Array.isArray(result.content) ? (result.content as { text?: string }[]) : [];
    const text = content.map((part) => part.text ?? '').join('\n');
    return { isError: result.isError === true, structured: result.structuredContent, text };
  }

  /** The tool's structured result. @throws Error when the server answers with an error. */
  async call<N extends ToolName>(name: N, args: Arguments = {}): Promise<ToolResults[N]> {
    const answer = await this.#answer(name, args);
    if (answer.isError) throw new Error(`${name} ${JSON.stringify(args)} was refused: ${answer.text}`);
    // The client has checked it against the tool's output schema.
    return answer.structured as ToolResults[N];
  }

  /** The error that the server answers with. @throws Error when it accepts the call. */
  async refused(name: ToolName, args: Arguments = {}): Promise<Refusal> {
    const answer = await this.#answer(name, args);
    if (!answer.isError) throw new Error(`${name} ${JSON.stringify(args)} was accepted: ${answer.text}`);
    if (answer.structured === undefined) throw new Error(`${name}'s error has no structured content: ${answer.text}`);
    return { ...(answer.structured as ErrorResult).error, text: answer.text };
  }

  async checkin(agent: string, fields: Arguments = {}): Promise<CheckinDone> {
    const result = await this.call('agent_checkin', { agent_id: agent, confirm: true, ...fields });
    if (result.preview) throw new Error(`the check-in of ${agent} was only previewed`);
    return result;
  }

  /** Sends a note, or whatever `fields` say. */
  send(to: string, fields: Arguments = {}): Promise<SendResult> {
    return this.call('agent_send', { to, msg_type: 'note', ...fields });
  }

  async ack(agent: string, ids: readonly number[]): Promise<void> {
    await this.call('agent_ack', { agent_id: agent, message_ids: ids, confirm: true });
  }

  async close(): Promise<void> {
    await this.client.close();
  }
}
