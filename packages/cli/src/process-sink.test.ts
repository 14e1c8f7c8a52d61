import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { OutputError, processSink } from './process-sink.js';

/** A stream that fails every write the way a process's stdout does. */
function failing(code: string): NodeJS.WriteStream {
  const error = Object.assign(new Error(code), { code });
  const stream = new Writable({
    write(_chunk, _encoding, done) {
      done(error);
    },
  });
  return Object.assign(stream, { isTTY: false }) as unknown as NodeJS.WriteStream; // Only what the sink uses.
}

/** One that throws, as a file does. */
function throwing(code: string): NodeJS.WriteStream {
  const write = (): never => {
    throw Object.assign(new Error(code), { code });
  };
  return Object.assign(new Writable(), { isTTY: false, write }) as unknown as NodeJS.WriteStream; // Only what the sink uses.
}

describe('writing to stdout', () => {
  it('goes on quietly when the reader is gone, and says that it is', async () => {
    const sink = processSink(failing('EPIPE'));
    await sink.write('a');
    await sink.write('b');
    expect(sink.closed).toBe(true);
  });
  it.each([
    ['later', failing('ENOSPC')],
    ['at once', throwing('ENOSPC')],
  ])('fails when the disk behind it is full and says so %s', async (_when, stream) => {
    const sink = processSink(stream);
    await expect(sink.write('a')).rejects.toThrow(/could not be printed: .*ENOSPC/);
    await expect(sink.write('b')).rejects.toThrow(OutputError);
  });
});
