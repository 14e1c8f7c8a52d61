import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { jsonErrorPosition } from './json-error-position.js';
import { UsageError } from './usage-error.js';

/** The three ways to give a payload, of which the command line lets at most one through. */
export interface PayloadFlags {
  payload?: string;
  payloadFile?: string;
  message?: string;
}

/** Far above any payload that could be sent: what is longer is not read into memory only to be refused. */
const readAtMostBytes = 1 << 20;
const excerptLength = 30;

function parsePayload(text: string, flag: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    const place = jsonErrorPosition(text);
    if (place === null) throw new UsageError(`${flag} is no JSON that can be read: it is nested too deeply`);
    const { offset, line, column } = place;
    const where = `line ${line}, column ${column}`;
    if (offset >= text.length) throw new UsageError(`${flag} is not complete JSON: it ends too early, at ${where}`);
    const excerpt = JSON.stringify(text.slice(offset, offset + excerptLength));
    throw new UsageError(`${flag} is not JSON: unexpected text at ${where}: ${excerpt}`);
  }
}

async function readText(source: Readable, name: string): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of source as AsyncIterable<Buffer | string>) {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      length += bytes.length;
      if (length > readAtMostBytes) throw new UsageError(`${name} is longer than any payload may be (16,384 bytes)`);
      chunks.push(bytes);
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new UsageError(`cannot read ${name}: ${reason}`);
  }
  try {
    // TextDecoder takes the byte order mark off, which PowerShell writes.
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new UsageError(`${name} is not UTF-8`);
  }
}

/**
 * The payload as it was given, unchecked but for being JSON; undefined where none was.
 * @throws UsageError naming the option and the place of what is wrong.
 */
export async function readPayload(flags: PayloadFlags, from: { stdin: () => Readable; cwd: string }): Promise<unknown> {
  if (flags.message !== undefined) return { message: flags.message };
  if (flags.payload !== undefined) return parsePayload(flags.payload, '--payload');
  if (flags.payloadFile === undefined) return undefined;
  const stream = flags.payloadFile === '-' ? from.stdin() : createReadStream(resolve(from.cwd, flags.payloadFile));
  const name = flags.payloadFile === '-' ? 'the payload on stdin' : `the payload file ${flags.payloadFile}`;
  return parsePayload(await readText(stream, name), name);
}
