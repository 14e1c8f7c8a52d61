import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { DemoFailure, shown } from './demo-failure.js';

export interface AgentOptions {
  machine: string;
  agent: string;
  /** The argv that starts the MCP server. */
  serverCommand: readonly string[];
  cwd: string;
  env: Record<string, string>;
  signal: AbortSignal;
}

export interface Answer<Result> {
  result: Result;
  /** What an agent that reads text is told. */
  text: string;
}

const callTimeoutMs = 20_000;
const keptLogCharacters = 2000;

/** An agent of the demo: a real MCP client with a server process of its own, as a coding agent would start it. */
export class Agent {
  readonly machine: string;
  readonly name: string;
  readonly #client = new Client({ name: 'git-mesh-demo', version: '1' });
  readonly #transport: StdioClientTransport;
  #log = '';
  #closing: Promise<void> | null = null;

  constructor({ machine, agent, serverCommand, cwd, env, signal }: AgentOptions) {
    this.machine = machine;
    this.name = agent;
    // Not handed to each request: the SDK never takes its listeners off a signal.
    const leave = (): void => {
      this.close().catch((error: unknown) => {
        this.#log += `\nwhile ending: ${shown(error)}`;
      });
    };
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    const [command = '', ...args] = serverCommand;
    this.#transport = new StdioClientTransport({ command, args, cwd, env, stderr: 'pipe' });
    this.#transport.stderr?.on('data', (chunk: Buffer) => {
      this.#log = (this.#log + chunk.toString()).slice(-keptLogCharacters);
    });
  }

  /** Starts the server and gives the names of its tools; from then on the client checks every result by its schema. */
  async start(): Promise<string[]> {
    const options = { timeout: callTimeoutMs };
    await this.#client.connect(this.#transport, options);
    const { tools } = await this.#client.listTools(undefined, options);
    return tools.map(({ name }) => name);
  }

  /** @throws DemoFailure when the tool fails. */
  async call<Result>(tool: string, args: Record<string, unknown>): Promise<Answer<Result>> {
    const { isError, content, text } = await this.#request(tool, args);
    if (isError) throw new DemoFailure(`${tool} on ${this.machine} failed: ${text}`);
    // The client has checked it against the tool's outputSchema.
    return { result: content as Result, text };
  }

  /** A call that must fail; gives the error. @throws DemoFailure when it does not. */
  async refused(tool: string, args: Record<string, unknown>): Promise<Answer<Record<string, unknown>>> {
    const { isError, content, text } = await this.#request(tool, args);
    const error = content['error'];
    if (!isError || typeof error !== 'object' || error === null) {
      throw new DemoFailure(`expected ${tool} on ${this.machine} to be refused, got ${shown(content)}`);
    }
    return { result: { ...error }, text };
  }

  async #request(
    tool: string,
    args: Record<string, unknown>,
  ): Promise<{ isError: boolean; content: Record<string, unknown>; text: string }> {
    const options = { timeout: callTimeoutMs };
    const answer = await this.#client.callTool({ name: tool, arguments: args }, undefined, options);
    const { structuredContent, content } = answer;
    if (typeof structuredContent !== 'object' || structuredContent === null || !Array.isArray(content)) {
      throw new DemoFailure(`${tool} on ${this.machine} gave no structuredContent: ${shown(answer)}`);
    }
    const parts: unknown[] = content;
    const text = parts.map((part) => (part as { text?: string }).text ?? '').join('\n');
    return { isError: answer.isError === true, content: { ...structuredContent }, text };
  }

  /** The end of what the server wrote on stderr. */
  get log(): string {
    return this.#log.trim();
  }

  /** Ends the server process, whatever state it is in; what is still asked of it fails. Safe to call twice. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    await this.#client.close();
    // Where connect has not succeeded the client does not know its transport.
    await this.#transport.close();
  }
}
