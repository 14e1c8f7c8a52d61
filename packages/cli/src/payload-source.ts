import { createReadStream } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import type { Readable } from 'node:stream';
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

async function parsePayload(text: string, flag: string): Promise<unknown> {
  const { jsonErrorPosition, jsonLoss, lossText } = await import('@git-mesh/core');
  if (text.trim() === '') throw new UsageError(`${flag} is empty: expected a JSON object, such as {"pr": 12}`);
  try {
    const value = JSON.parse(text) as unknown;
    const loss = jsonLoss(text);
    if (loss !== null) {
      const where = `line ${loss.line}, column ${loss.column}`;
      throw new UsageError(`${flag} cannot be sent as it is: ${lossText(loss, where)}`);
    }
    return value;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const place = jsonErrorPosition(text);
    if (place === null)
      throw new UsageError(`${flag} is no JSON that can be read: it is nested too deeply; flatten it`);
    const { offset, line, column } = place;
    const where = `line ${line}, column ${column}`;
    if (offset >= text.length) throw new UsageError(`${flag} is not complete JSON: it ends too early, at ${where}`);
    const excerpt = JSON.stringify(text.slice(offset, offset + excerptLength));
    throw new UsageError(
      `${flag} is not JSON: unexpected text at ${where}: ${excerpt}; a payload looks like '{"pr": 12}', in single quotes in a shell`,
    );
  }
}

const readAdvice: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'a part of its path is no folder',
  EISDIR: 'it is a folder; name a file',
  EACCES: 'you may not read it; see its owner and mode',
  ELOOP: 'its symbolic links lead in a circle',
  ENAMETOOLONG: 'its name is too long',
};

async function readText(source: Readable, name: string): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of source as AsyncIterable<Buffer | string>) {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      length += bytes.length;
      if (length > readAtMostBytes)
        throw new UsageError(`${name} is longer than any payload may be (16,384 bytes): send a link to it`);
      chunks.push(bytes);
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new UsageError(`cannot read ${name}: ${readAdvice[reason] ?? 'see that it can be read'} (${reason})`);
  }
  try {
    // TextDecoder takes the byte order mark off, which PowerShell writes.
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new UsageError(`${name} is not UTF-8: save it in that encoding`);
  }
}

/**
 * The payload as it was given, unchecked but for being JSON; undefined where none was.
 * @throws UsageError naming the option and the place of what is wrong.
 */
export async function readPayload(
  flags: PayloadFlags,
  from: { stdin: () => Readable; cwd: () => string },
): Promise<unknown> {
  if (flags.message !== undefined) return { message: flags.message };
  if (flags.payload !== undefined) return parsePayload(flags.payload, '--payload');
  const file = flags.payloadFile;
  if (file === undefined) return undefined;
  if (file === '') throw new UsageError('--payload-file is empty: expected a file, or - for stdin');
  if (file === '-') return parsePayload(await readText(from.stdin(), 'stdin'), 'the payload on stdin');
  const name = `the payload file ${file}`;
  const stream = createReadStream(isAbsolute(file) ? file : resolve(from.cwd(), file));
  return parsePayload(await readText(stream, name), name);
}
