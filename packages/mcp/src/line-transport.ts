import { serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ErrorCode, type JSONRPCMessage, type RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { Readable, Writable } from 'node:stream';
import { LineReader } from './line-reader.js';
import { checkLine, rpcProblem, type RpcProblem } from './rpc-check.js';

/**
 * MCP over a pair of streams, one message a line. Unlike the SDK's own it answers what it cannot read (-32700, -32600,
 * -32602) and works on, whatever came, and remembers how a tool call was written until {@link takeText} asks.
 */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #stdin: Readable;
  readonly #stdout: Writable;
  readonly #lines: LineReader;
  readonly #texts = new Map<RequestId, string>();

  constructor({ stdin, stdout }: { stdin: Readable; stdout: Writable }, options: { maxLineBytes?: number } = {}) {
    this.#stdin = stdin;
    this.#stdout = stdout;
    this.#lines = new LineReader(options);
  }

  start(): Promise<void> {
    this.#stdin.on('data', this.#receive);
    this.#stdin.on('error', this.#failed);
    return Promise.resolve();
  }

  /** The text of a tools/call request, once. */
  takeText(id: RequestId): string | undefined {
    const text = this.#texts.get(id);
    this.#texts.delete(id);
    return text;
  }

  send(message: JSONRPCMessage): Promise<void> {
    return this.#write(serializeMessage(message));
  }

  close(): Promise<void> {
    this.#stdin.off('data', this.#receive);
    this.#stdin.off('error', this.#failed);
    if (this.#stdin.listenerCount('data') === 0) this.#stdin.pause();
    this.#texts.clear();
    this.onclose?.();
    return Promise.resolve();
  }

  readonly #failed = (error: Error): void => {
    this.onerror?.(error);
  };

  readonly #receive = (chunk: Buffer): void => {
    for (const line of this.#lines.add(chunk)) {
      if ('problem' in line) this.#answer(rpcProblem(null, ErrorCode.ParseError, `Parse error: ${line.problem}`));
      else if (line.text.trim() !== '') this.#read(line.text);
    }
  };

  #read(line: string): void {
    const checked = checkLine(line);
    switch (checked.kind) {
      case 'message':
        this.#remember(checked.message, line);
        this.onmessage?.(checked.message);
        return;
      case 'problem':
        this.#answer(checked.problem);
        return;
      case 'ignored':
        this.onerror?.(new Error(`ignored: ${checked.reason}`));
    }
  }

  #remember(message: JSONRPCMessage, line: string): void {
    if ('id' in message && message.id !== undefined && 'method' in message && message.method === 'tools/call') {
      this.#texts.set(message.id, line);
    }
  }

  #answer(problem: RpcProblem): void {
    this.onerror?.(new Error(problem.error.message));
    void this.#write(`${JSON.stringify(problem)}\n`);
  }

  /** Resolves when the text was taken or cannot be any more: that the reader is gone, the stream's own events tell. */
  #write(text: string): Promise<void> {
    return new Promise((resolve) => {
      this.#stdout.write(text, () => {
        resolve();
      });
    });
  }
}
