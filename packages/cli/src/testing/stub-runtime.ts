import { PassThrough, Readable } from 'node:stream';
import type { Connection, Edge, ExportResult, HistoryResult, ImportResult, MeshApi, SyncSummary } from '@git-mesh/core';
import type { OpenMesh } from '@git-mesh/sync';
import type { MeshAccess } from '../mesh-access.js';
import { OutputError } from '../process-sink.js';
import { runCli } from '../run-cli.js';
import type { Environment, Runtime, TextSink } from '../runtime.js';

export const stubNow: number = Date.parse('2026-12-02T05:00:00.000Z');
export const syncOk: SyncSummary = { state: 'ok', last_ok_at: '2026-12-02T04:59:50.000Z', queued: 0, error: null };

/** A call that a command made, in order: `['send', {…input}]`, `['inlineSync', 5000]`. */
export type Call = readonly [name: string, argument?: unknown];

export interface CliRun {
  code: number;
  out: string;
  err: string;
  calls: Call[];
}

export interface StubOptions {
  /** What each use case resolves to, or throws when it is an Error. */
  results?: Record<string, unknown>;
  env?: Environment;
  stdin?: string;
  isTerminal?: boolean;
  columns?: number;
  workerAlive?: boolean;
  /** The reader of stdout goes away after this many writes. */
  closesAfter?: number;
  /** stdout's disk is full. */
  stdoutFull?: boolean;
  access?: Partial<MeshAccess>;
  locateStore?: Runtime['locateStore'];
  cwd?: () => string;
  homedir?: () => string;
  /** What the person's signals abort. */
  interruption?: AbortSignal;
  keepCode?: () => void;
}

class CollectingSink implements TextSink {
  text = '';
  #writes = 0;
  readonly isTerminal: boolean;
  readonly columns: number | undefined;
  readonly #closesAfter: number;
  readonly #full: boolean;
  constructor(options: StubOptions) {
    this.isTerminal = options.isTerminal ?? false;
    this.columns = options.columns;
    this.#full = options.stdoutFull ?? false;
    this.#closesAfter = options.closesAfter ?? Number.POSITIVE_INFINITY;
  }
  get closed(): boolean {
    return this.#writes >= this.#closesAfter;
  }
  write(text: string): Promise<void> {
    if (this.#full) return Promise.reject(new OutputError('the result could not be printed: ENOSPC'));
    if (!this.closed) this.text += text;
    this.#writes += 1;
    return Promise.resolve();
  }
}

function answer(results: Record<string, unknown>, name: string): unknown {
  const result = results[name];
  if (result instanceof Error) throw result;
  return result;
}

function stubMesh(calls: Call[], options: StubOptions): OpenMesh {
  const results = options.results ?? {};
  const connection: Connection = { owner: null, agents: new Set() };
  const note = (name: string, argument?: unknown): void => {
    calls.push(argument === undefined ? [name] : [name, argument]);
  };
  const useCase = (name: string) => (input?: unknown) => {
    note(name, input);
    return new Promise((resolve) => {
      resolve(answer(results, name));
    });
  };
  const names = [
    'checkin',
    'agents',
    'send',
    'inbox',
    'ack',
    'sent',
    'checkout',
    'unsend',
    'trace',
    'invite',
    'status',
    'doctor',
    'maintain',
    'leave',
    'rotateKey',
    'admit',
    'revoke',
    'keys',
  ];
  const api = {
    ...Object.fromEntries(names.map((name) => [name, useCase(name)])),
    async *log(input: unknown, { onEdge }: { onEdge?: (edge: Edge) => void } = {}) {
      note('log', input);
      for (const edge of (results['edges'] ?? []) as Edge[]) onEdge?.(edge);
      for (const event of (results['log'] ?? []) as unknown[]) yield await Promise.resolve(event);
    },
  } as unknown as MeshApi; // The results are whatever the test gives.
  return {
    api,
    syncer: {
      round: () => Promise.resolve(),
      summary: () => Promise.resolve((results['summary'] as SyncSummary | undefined) ?? syncOk),
      takeIn: () => Promise.resolve(),
      workerAlive: () => Promise.resolve(options.workerAlive ?? false),
      arrival: () => Promise.resolve(),
    },
    startWorker: () => {
      note('startWorker');
    },
    syncNow: () => {
      note('syncNow');
      return Promise.resolve((results['syncNow'] as SyncSummary | undefined) ?? syncOk);
    },
    fetchHistory: (wanted) => useCase('fetchHistory')(wanted) as Promise<HistoryResult>,
    inlineSync: ({ deadlineMs }) =>
      new Promise((resolve) => {
        note('inlineSync', deadlineMs);
        answer(results, 'inlineSync');
        resolve();
      }),
    exportBundle: (wanted) => useCase('exportBundle')(wanted) as Promise<ExportResult>,
    importBundle: (wanted) => useCase('importBundle')(wanted) as Promise<ImportResult>,
    newConnection: () => connection,
    onChange: () => ({ ready: Promise.resolve(), close: () => undefined }),
    inboxOutline: () => Promise.resolve(null),
    close: () => {
      note('close');
      return Promise.resolve();
    },
  };
}

/** Runs one command line in this process over a mesh that only records what it is asked. */
export async function runStubbed(argv: readonly string[], options: StubOptions = {}): Promise<CliRun> {
  const calls: Call[] = [];
  const stdout = new CollectingSink(options);
  const stderr = new CollectingSink({ ...(options.isTerminal === true ? { isTerminal: true } : {}) });
  const missing = (): Promise<never> => Promise.reject(new Error('not stubbed'));
  const runtime: Runtime = {
    argv,
    env: options.env ?? {},
    cwd: options.cwd ?? (() => '/work/here'),
    platform: 'linux',
    homedir: options.homedir ?? (() => '/home/someone'),
    hostname: () => 'Studio.local',
    uid: undefined,
    execPath: '/usr/bin/node',
    launcher: '/opt/git-mesh.cjs',
    version: '9.9.9',
    stdout,
    stderr,
    stdin: () => Readable.from([Buffer.from(options.stdin ?? '')]),
    rawStdout: () => new PassThrough(),
    now: () => stubNow,
    interruption: () => options.interruption ?? new AbortController().signal,
    locateStore:
      options.locateStore ?? (({ dir }) => Promise.resolve({ dir: dir ?? '/store', source: 'default' as const })),
    keepCode: options.keepCode ?? (() => undefined),
    meshAccess: () =>
      Promise.resolve({
        openMesh: () => Promise.resolve(stubMesh(calls, options)),
        initMesh: missing,
        joinMesh: missing,
        addRemote: missing,
        removeRemote: missing,
        reclaimBranch: missing,
        redactUrl: (url) => url,
        ...options.access,
      }),
  };
  const code = await runCli(runtime);
  return { code, out: stdout.text, err: stderr.text, calls };
}
