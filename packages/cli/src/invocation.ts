import type { Connection, Logger } from '@git-mesh/core';
import type { OpenMesh } from '@git-mesh/sync';
import { jsonLine } from './json-text.js';
import { plainBehind, plainLine, plainLines, plainResult } from './plain-text.js';
import { OutputError } from './process-sink.js';
import type { Runtime } from './runtime.js';
import { chooseStyle, plainStyle } from './style.js';
import { terminalColumns } from './terminal-columns.js';
import type { Render, ViewContext } from './view.js';

export interface GlobalOptions {
  dir?: string;
  json?: boolean;
  quiet?: boolean;
  verbose?: boolean;
}

const noted = (runtime: Runtime, text: string): void =>
  void runtime.stderr.write(`git-mesh: ${plainBehind('  │ ', text)}\n`);

/** One command being carried out: the store it works on and where its words go. */
export class Invocation {
  readonly runtime: Runtime;
  readonly globals: GlobalOptions;
  readonly #noisy: boolean;

  /** `noisy` commands (those that stay) log what they do even without `--verbose`. */
  constructor(runtime: Runtime, globals: GlobalOptions, noisy = false) {
    this.runtime = runtime;
    this.globals = globals;
    this.#noisy = noisy;
  }

  get logger(): Logger {
    const note = (text: string): void => {
      noted(this.runtime, text);
    };
    const nothing = (): void => undefined;
    const verbose = this.globals.verbose === true;
    const quiet = this.globals.quiet === true;
    const loud = verbose || (this.#noisy && !quiet);
    return { debug: verbose ? note : nothing, info: loud ? note : nothing, warn: loud ? note : nothing };
  }

  /** The store's folder, whether or not there is a store yet. */
  async storeDir(): Promise<string> {
    const { dir, source } = await this.runtime.locateStore({
      dir: this.globals.dir,
      env: this.runtime.env,
      cwd: () => this.runtime.cwd(),
      platform: this.runtime.platform,
      homedir: () => this.runtime.homedir(),
    });
    if (this.globals.verbose === true) {
      const { withoutInviteCodes } = await import('@git-mesh/core');
      this.logger.debug(`store ${withoutInviteCodes(dir)} (from ${source})`);
    }
    return dir;
  }

  /** Opens the mesh for `body` and closes it whatever happens. */
  async withMesh<T>(body: (mesh: OpenMesh, connection: Connection) => Promise<T>): Promise<T> {
    const { openMesh } = await this.runtime.meshAccess();
    const mesh = await openMesh({ dir: await this.storeDir(), env: this.runtime.env, logger: this.logger });
    try {
      return await body(mesh, mesh.newConnection({ resident: false }));
    } finally {
      await mesh.close();
    }
  }

  /**
   * A bounded round where no worker does it. Whatever keeps it from working is a warning: what the command itself is
   * for is done on this disk.
   */
  async exchange(mesh: OpenMesh, deadlineMs = 5000): Promise<void> {
    try {
      await mesh.inlineSync({ deadlineMs });
    } catch (error) {
      const { MeshError, systemFailure } = await import('@git-mesh/core');
      const told = systemFailure(error) ?? error;
      if (!(told instanceof MeshError)) throw error;
      const errno = told.data['errno'];
      // What the command itself had to store is stored, or it had nothing to: the store's words for that do not fit.
      const why =
        told.errorName === 'read_only'
          ? `the store cannot be written (${typeof errno === 'string' ? errno : told.errorName}) and takes in nothing new; make it writable for this user (mount, owner and mode of its folder)`
          : told.message;
      await this.warn(`not synchronised: ${why}`);
    }
  }

  /**
   * Prints the result as the one JSON document, or as people's text.
   * @throws OutputError that says so where an act was done and only its result could not be printed.
   */
  async show<T>(result: T, render: Render<T>): Promise<void> {
    const json = this.globals.json === true;
    const view = json ? null : render(plainResult(result), await this.viewContext());
    const silent = view === null || view.text === '' || (this.globals.quiet === true && view.kind === 'confirmation');
    const text = json ? jsonLine(result) : silent ? '' : `${this.shown(view.text)}\n`;
    try {
      if (text !== '') await this.runtime.stdout.write(text);
    } catch (error) {
      if (!(error instanceof OutputError)) throw error;
      const { kind } = view ?? render(plainResult(result), await this.viewContext());
      if (kind === 'answer') throw error;
      throw new OutputError(`this was done, so do not do it again; only ${error.message}`, { cause: error });
    }
    for (const warning of view?.warnings ?? []) await this.warn(warning);
  }

  /** @throws MeshError `cancelled` where the person ended the command by a signal: it then prints nothing. */
  async endWhereInterrupted(signal: AbortSignal): Promise<void> {
    if (!signal.aborted) return;
    const { MeshError } = await import('@git-mesh/core');
    throw new MeshError('cancelled', 'ended by a signal');
  }

  async viewContext(): Promise<ViewContext> {
    const { visibleText } = await import('@git-mesh/core');
    const { stdout, env } = this.runtime;
    return {
      style: chooseStyle(stdout.isTerminal, env),
      nowMs: this.runtime.now(),
      columns: terminalColumns(this.runtime),
      visible: (text, maxLength = 200) => visibleText(text, { maxLength }),
      own: (text) => visibleText(text),
    };
  }

  /** Lines for stdout as they may go out: nothing in them acts but line breaks, and colours where there are some. */
  shown(text: string): string {
    const { stdout, env } = this.runtime;
    return plainLines(text, { painted: chooseStyle(stdout.isTerminal, env) !== plainStyle });
  }

  /** One line for a person on stderr. */
  async warn(text: string): Promise<void> {
    if (this.globals.quiet === true) return;
    const { stderr, env } = this.runtime;
    await stderr.write(`${chooseStyle(stderr.isTerminal, env).yellow('warning:')} ${plainLine(text)}\n`);
  }

  /** Shows the steps of something long, where a person watches. */
  get onProgress(): ((line: string) => void) | undefined {
    const { stderr, env } = this.runtime;
    if (!stderr.isTerminal || this.globals.quiet === true || this.globals.json === true) return undefined;
    const { dim } = chooseStyle(true, env);
    return (line) => void stderr.write(`${dim(plainLine(line))}\n`);
  }
}
