import { Console } from 'node:console';
import { Writable } from 'node:stream';

/** What the server takes from its process, so that tests can stand in for it. */
export interface HostProcess {
  /** As in `process.platform`. */
  readonly platform: string;
  /**
   * From here on nothing else reaches `stdout`: what others print goes to stderr. Gives the only stream that still
   * does; its `error` event tells that the reader is gone.
   */
  claimStdout(stdout: Writable): Writable;
  /** Calls back when the process is told to end. A second signal ends it at once. Gives the undoing. */
  onSignal(listener: (signal: string) => void): () => void;
  /** However stuck the shutdown is, the process is gone after `ms`. Keeps nothing alive by itself. */
  exitWithin(ms: number): void;
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function claimStdout(stdout: Writable): Writable {
  globalThis.console = new Console(process.stderr, process.stderr);
  const write = stdout.write.bind(stdout);
  const claimed = new Writable({
    decodeStrings: false,
    write: (chunk: string | Uint8Array, encoding, done) => {
      // For a string the encoding is the one it was written with; for bytes it is ignored.
      if (typeof chunk === 'string') write(chunk, encoding, done);
      else write(chunk, done);
    },
  });
  stdout.on('error', (error: Error) => {
    claimed.destroy(error);
  });
  stdout.on('close', () => {
    claimed.destroy();
  });
  if (stdout === process.stdout) process.stdout.write = process.stderr.write.bind(process.stderr);
  return claimed;
}

function onSignal(listener: (signal: string) => void): () => void {
  let told = false;
  const receive = (signal: NodeJS.Signals): void => {
    if (told) process.exit(1);
    told = true;
    listener(signal);
  };
  for (const signal of signals) process.on(signal, receive);
  return () => {
    for (const signal of signals) process.off(signal, receive);
  };
}

/** The real process. Everything of this package that touches it is in this file. */
export const hostProcess: HostProcess = {
  platform: process.platform,
  claimStdout,
  onSignal,
  exitWithin(ms) {
    setTimeout(() => process.exit(1), ms).unref();
  },
};
