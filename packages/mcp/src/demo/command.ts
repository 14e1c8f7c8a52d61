import { execFile } from 'node:child_process';
import { DemoFailure } from './demo-failure.js';

export interface CommandOptions {
  cwd: string;
  env: Record<string, string>;
  signal: AbortSignal;
}

const timeoutMs = 20_000;

/**
 * Runs a program to its end, without a shell, and gives its stdout.
 * @throws DemoFailure when it cannot be started, fails or takes longer than 20 s, with what it said.
 */
export function run(argv: readonly string[], { cwd, env, signal }: CommandOptions): Promise<string> {
  const [program = '', ...args] = argv;
  return new Promise((resolve, reject) => {
    const options = { cwd, env, signal, timeout: timeoutMs, encoding: 'utf8' as const, windowsHide: true };
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else if (error.code === 'ENOENT') reject(new DemoFailure(`${program} was not found: the demo needs it in PATH`));
      else {
        const said = [stdout, stderr].map((text) => text.trim()).filter((text) => text !== '');
        reject(new DemoFailure(`${argv.join(' ')} failed: ${said.join('\n') || error.message}`));
      }
    });
    child.stdin?.end();
  });
}
