import type { Environment } from '../environment.js';

export interface ProcessOptions {
  /** The built command. */
  launcher: string;
  cwd: string;
  env: Environment;
  /** The file that takes what it writes to stderr. */
  log: string;
  /** It ended although nobody killed or stopped it. */
  onUnexpectedEnd: (text: string) => void;
  /** An answer that is none: not after its schema, or too late. */
  onBadAnswer: (text: string) => void;
}

/** A process that stays: it is started, killed, held up and started again. */
export interface ResidentProcess {
  readonly name: string;
  /** Null while it does not run. */
  readonly pid: number | null;
  start(): Promise<void>;
  /** SIGKILL; false where it did not run, or somebody else ends it. Resolves when it is gone. */
  kill(): Promise<boolean>;
  /** To the process with that pid; false where that is gone. */
  signal(pid: number, signal: 'SIGSTOP' | 'SIGCONT'): boolean;
  /** Resolves when its next call begins, or after `ms`. */
  nextCall(ms: number): Promise<void>;
  /** Whether it does its work. */
  isWell(): Promise<boolean>;
  /** Ends it the way that its users do. */
  stop(): Promise<void>;
}
