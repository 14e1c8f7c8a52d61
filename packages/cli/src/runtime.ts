import type { Readable, Writable } from 'node:stream';
import type { LocateStoreFunction } from '@git-mesh/sync';
import type { MeshAccess } from './mesh-access.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where text goes: stdout or stderr. */
export interface TextSink {
  /** Resolves once the text was handed over, or was dropped because the reader is gone. @throws OutputError where it cannot be written (a full disk). */
  write(text: string): Promise<void>;
  readonly isTerminal: boolean;
  /** The terminal's width in columns; undefined when it is none. */
  readonly columns: number | undefined;
  /** True once the reader is gone (`| head`): whatever is still written is dropped. */
  readonly closed: boolean;
}

/** Everything the command line takes from its process; `main.ts` makes the real one. */
export interface Runtime {
  /** The arguments after the program's name. */
  readonly argv: readonly string[];
  readonly env: Environment;
  /** @throws UsageError where it is gone. Asked only for what needs it. */
  cwd(): string;
  readonly platform: string;
  /** @throws UsageError where there is none. */
  homedir(): string;
  hostname(): string;
  /** The user's number; undefined on Windows. */
  readonly uid: number | undefined;
  /** The Node executable. */
  readonly execPath: string;
  /** The real path of the launcher, `bin/git-mesh.cjs`. */
  readonly launcher: string;
  readonly version: string;
  readonly stdout: TextSink;
  readonly stderr: TextSink;
  /** The streams themselves, for what speaks a protocol over them. Touching stdin opens it: hence functions. */
  stdin(): Readable;
  rawStdout(): Writable;
  /** Milliseconds since 1970. */
  now(): number;
  /** Aborts at the first SIGINT, SIGTERM or SIGHUP, with its name as the reason; until it was asked for, those end the process as usual. */
  interruption(): AbortSignal;
  /** Finds the store without loading the use cases: a server that is only looked at needs none. */
  locateStore: LocateStoreFunction;
  /** Loads the use cases; nothing of them is loaded before. */
  meshAccess(): Promise<MeshAccess>;
  /** Keeps the code that was compiled so far for the next start of this command, where that can be done; the first call counts. */
  keepCode(): void;
}
