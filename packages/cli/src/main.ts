import { Console } from 'node:console';
import { readFileSync, realpathSync } from 'node:fs';
import { homedir, hostname } from 'node:os';
import { fileURLToPath } from 'node:url';
import { exitCodes } from './exit-code.js';
import { loadMeshAccess } from './mesh-access.js';
import { processSink } from './process-sink.js';
import { runCli } from './run-cli.js';
import { signalExitCode } from './signal-exit-code.js';
import { currentFolder, homeFolder } from './surroundings.js';

// stdout belongs to results and protocol: whatever a dependency prints goes to stderr.
globalThis.console = new Console(process.stderr, process.stderr);

function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest
    ? String(manifest.version)
    : '0.0.0';
}

let interruption: AbortController | undefined;
function interruptionSignal(): AbortSignal {
  if (interruption === undefined) {
    const controller = new AbortController();
    interruption = controller;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        // Asked twice: the person does not want to wait for an orderly end.
        if (controller.signal.aborted) process.exit(signalExitCode(signal));
        controller.abort(signal);
      });
    }
  }
  return interruption.signal;
}

export interface MainOptions {
  /** The launcher's: keeps the code that was compiled so far for the next start. */
  keepCode?: () => void;
}

/** Carries out the process's command line and ends it. */
export async function main({ keepCode = () => undefined }: MainOptions = {}): Promise<never> {
  const stdout = processSink(process.stdout);
  const stderr = processSink(process.stderr, { lastResort: true });

  // Until its end a run is no success, should nothing be left that could still go on.
  process.exitCode = exitCodes.unexpected;
  const exitCode = await runCli({
    argv: process.argv.slice(2),
    env: process.env,
    cwd: () => currentFolder(() => process.cwd()),
    platform: process.platform,
    homedir: () => homeFolder(homedir),
    hostname,
    uid: process.getuid?.(),
    execPath: process.execPath,
    launcher: realpathSync(fileURLToPath(new URL('../bin/git-mesh.cjs', import.meta.url))),
    version: packageVersion(),
    stdout,
    stderr,
    stdin: () => process.stdin,
    rawStdout: () => process.stdout,
    now: () => Date.now(),
    interruption: interruptionSignal,
    locateStore: async (wanted) => (await import('@git-mesh/sync/locate')).locateStore(wanted),
    meshAccess: loadMeshAccess,
    keepCode,
  });

  // The only exit. An empty write is called back once everything before it went out, which pipes need.
  await stdout.write('').catch(() => {
    // Was reported when it failed.
  });
  await stderr.write('');
  process.exit(exitCode);
}
