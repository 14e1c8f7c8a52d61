import type { TextSink } from './runtime.js';

/** What was to be printed could not be: nothing of the mesh is wrong. */
export class OutputError extends Error {
  override readonly name = 'OutputError';
}

/** Windows says EOF or EINVAL where others say EPIPE. */
const readerIsGone = new Set<string | undefined>(['EPIPE', 'EOF', 'EINVAL']);

/**
 * A process's stdout or stderr. A reader that went away ends nothing: what it no longer reads is dropped. With
 * `lastResort` (stderr) no failure is thrown at all: there is nowhere left to report it.
 */
export function processSink(
  stream: NodeJS.WriteStream,
  { lastResort = false }: { lastResort?: boolean } = {},
): TextSink {
  let closed = false;
  let failure: OutputError | null = null;
  const note = (error: NodeJS.ErrnoException): void => {
    if (readerIsGone.has(error.code)) closed = true;
    else failure ??= new OutputError(`the result could not be printed: ${error.message}`, { cause: error });
  };
  stream.on('error', note);
  const attempt = (text: string): Promise<void> =>
    new Promise((resolve) => {
      try {
        stream.write(text, (error) => {
          if (error) note(error);
          resolve();
        });
      } catch (error) {
        // Files are written synchronously, and a full disk is thrown right here.
        note(error instanceof Error ? error : new Error(String(error)));
        resolve();
      }
    });
  return {
    isTerminal: stream.isTTY,
    get columns() {
      return stream.isTTY ? stream.columns : undefined;
    },
    get closed() {
      return closed;
    },
    async write(text) {
      if (!closed && failure === null) await attempt(text);
      if (failure !== null && !lastResort) throw failure;
    },
  };
}
