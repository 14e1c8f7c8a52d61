import type { Readable } from 'node:stream';

const maxInputBytes = 1024 * 1024;
/** A client that never closes the hook's stdin is not waited for. */
const inputLimitMs = 500;

const names = ['session_id', 'conversation_id', 'sessionId', 'thread_id'];
const form = /^[\w.:@/-]{1,200}$/;

/** What names the client's session in the JSON that it gives a hook on stdin; null where nothing does. */
export async function sessionOf(stdin: Readable): Promise<string | null> {
  const text = await textOf(stdin);
  let input: unknown;
  try {
    input = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return sessionIn(text);
    throw error;
  }
  if (typeof input !== 'object' || input === null) return null;
  for (const name of names) {
    const value: unknown = Reflect.get(input, name);
    if (typeof value === 'string' && form.test(value)) return value;
  }
  return null;
}

/** The same of an input that was too long to be read to its end: clients name the session before a tool's output. */
function sessionIn(text: string): string | null {
  if (!text.trimStart().startsWith('{')) return null;
  const [, value] = new RegExp(`"(?:${names.join('|')})"\\s*:\\s*"([\\w.:@/-]{1,200})"`).exec(text) ?? [];
  return value ?? null;
}

function textOf(stdin: Readable): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const end = (): void => {
      clearTimeout(timer);
      stdin.destroy();
      resolve(Buffer.concat(chunks).toString('utf8'));
    };
    const timer = setTimeout(end, inputLimitMs);
    stdin.on('data', (chunk: Buffer | string) => {
      const part = Buffer.from(chunk);
      bytes += part.length;
      chunks.push(part);
      if (bytes > maxInputBytes) end();
    });
    for (const event of ['end', 'error', 'close']) stdin.once(event, end);
  });
}
