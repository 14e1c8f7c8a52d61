import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { requireBundle } from '../bundle.js';
import { launcher, workspaceRoot } from '../environment.js';
import { solo } from '../machines.js';
import { scratch } from '../scratch.js';

const cli = join(workspaceRoot, 'packages/cli');

/** The source files of each file of the bundle, by its path from the package's folder. */
function bundled(): Record<string, { inputs: Record<string, unknown> }> {
  const contents = join(cli, 'bundle/contents.json');
  return existsSync(contents)
    ? (JSON.parse(readFileSync(contents, 'utf8')) as Record<string, { inputs: Record<string, unknown> }>)
    : {};
}

interface Coverage {
  url: string;
  functions: { functionName: string; ranges: { count: number }[] }[];
}

/** What one command did in each file that it loaded, as the engine itself reports it. */
function coverageOf(env: Record<string, string>, args: readonly string[]): Coverage[] {
  const folder = scratch();
  const { error } = spawnSync(process.execPath, [launcher, ...args], {
    env: { ...env, NODE_V8_COVERAGE: folder },
    input: '',
  });
  if (error !== undefined) throw error;
  return readdirSync(folder).flatMap((name) => {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { result: Coverage[] };
    return result.filter(({ url }) => url.startsWith('file:'));
  });
}

/** Every module of ours and of other packages that is in the files. */
function modulesIn(coverage: readonly Coverage[]): string[] {
  const files = bundled();
  return coverage.flatMap(({ url }) => {
    const path = relative(cli, fileURLToPath(url)).replaceAll('\\', '/');
    return Object.keys(files[path]?.inputs ?? { [path]: null });
  });
}

/** The CommonJS modules that were made: in the bundle each is a function that is named by its path. */
function modulesMade(coverage: readonly Coverage[]): string[] {
  return coverage.flatMap(({ functions }) =>
    functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0).map(({ functionName }) => functionName),
  );
}

/** Which of these packages are among the modules. */
function packagesIn(modules: readonly string[]): string[] {
  const heavy = ['zod', '@modelcontextprotocol/sdk', 'isomorphic-git', 'proper-lockfile', 'yaml', 'commander'];
  return heavy.filter((name) => modules.some((path) => path.includes(`node_modules/${name}/`)));
}

beforeAll(requireBundle);

describe('a command', () => {
  it('loads of other packages only what it needs', async () => {
    const studio = await solo();
    await studio.json(['checkin', 'qa']);
    const loads = (...args: string[]): string[] => packagesIn(modulesIn(coverageOf(studio.env, args)));
    expect.soft(loads('--version')).toEqual(['commander']);
    expect.soft(loads('hook', 'claude-code', 'Stop')).toEqual(['yaml', 'commander']);
    expect.soft(loads('guard')).toEqual(['yaml', 'commander']);
    // A server that is only looked at opens no mesh; and that this test can see the others.
    expect.soft(loads('mcp')).toEqual(['zod', '@modelcontextprotocol/sdk', 'commander']);
  });

  it('makes a YAML parser only for files that are not in our own form, and to write one', async () => {
    const studio = await solo();
    const makes = (...args: string[]): string[] => packagesIn(modulesMade(coverageOf(studio.env, args)));
    expect.soft(makes('checkin', 'qa')).toEqual(['yaml', 'commander']);
    expect.soft(makes('hook', 'claude-code', 'Stop')).toEqual(['commander']);
    expect.soft(makes('inbox', 'qa')).toEqual(['commander']);
  });
});
