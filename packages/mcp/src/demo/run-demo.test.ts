import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Narrator } from './narrator.js';
import { runDemo } from './run-demo.js';
import { until } from './until.js';
import { createWorkspace } from './workspace.js';

let parentDir = '';
beforeEach(async () => {
  parentDir = await mkdtemp(join(tmpdir(), 'demo-test-'));
});
afterEach(() => rm(parentDir, { recursive: true, force: true }));

function listener(isTTY?: boolean) {
  const heard = { text: '' };
  const out = {
    write: (text: string) => {
      heard.text += text;
    },
    ...(isTTY === undefined ? {} : { isTTY }),
  };
  return { heard, out };
}

/** A git-mesh whose init and join work as far as anyone can see, and whose server does what `mcp` says. */
const fake = (mcp: string) => [
  process.execPath,
  '-e',
  `const [command] = process.argv.slice(1);
   if (command === 'mcp') { ${mcp} }
   else console.log(JSON.stringify({ machine: process.argv[process.argv.indexOf('--machine') + 1], writable: true }));`,
  '--',
];

describe('runDemo', () => {
  it('says what failed, and leaves nothing, when a command fails', async () => {
    const { heard, out } = listener();
    const cli = [process.execPath, '-e', 'console.error("no such thing"); process.exit(3)'];
    expect(await runDemo({ serverCommand: cli, cli, out, env: process.env, parentDir })).toBe(false);
    expect(heard.text).toContain('Not as expected');
    expect(heard.text).toContain('no such thing');
    expect(await readdir(parentDir)).toEqual([]);
  });

  it('shows what the servers said, and leaves nothing, when one ends at once', async () => {
    const { heard, out } = listener();
    const cli = fake('console.error("the server is broken"); process.exit(1);');
    const options = { serverCommand: [...cli, 'mcp'], cli, out, env: process.env, parentDir };
    expect(await runDemo(options)).toBe(false);
    expect(heard.text).toContain('the server is broken');
    expect(heard.text).toContain('2. An agent checks in on each machine');
    expect(await readdir(parentDir)).toEqual([]);
  });

  it('names a program that is not installed', async () => {
    const { heard, out } = listener();
    const cli = ['/nowhere/git-mesh'];
    expect(await runDemo({ serverCommand: cli, cli, out, env: process.env, parentDir })).toBe(false);
    expect(heard.text).toContain('/nowhere/git-mesh was not found');
  });
});

describe('the demo’s folder', () => {
  it('keeps the user’s git settings and mesh out', async () => {
    const workspace = await createWorkspace(parentDir, {
      PATH: '/bin',
      GIT_DIR: '/x',
      GIT_MESH_DIR: '/mine',
      HOME: '/me',
    });
    const env = workspace.env('studio');
    expect(env).toMatchObject({ PATH: '/bin', GIT_MESH_DIR: join(workspace.dir, 'studio'), GIT_CONFIG_NOSYSTEM: '1' });
    expect(env['GIT_DIR']).toBeUndefined();
    expect(env['HOME']).toBe(join(workspace.dir, 'home'));
    expect(workspace.env()['GIT_MESH_DIR']).toBeUndefined();
    await workspace.remove();
    expect(await readdir(parentDir)).toEqual([]);
  });
});

describe('the narrator', () => {
  it.each([
    ['a terminal', true, {}, true],
    ['no terminal', undefined, {}, false],
    ['a terminal with NO_COLOR', true, { NO_COLOR: '1' }, false],
    ['a dumb terminal', true, { TERM: 'dumb' }, false],
    ['no terminal with FORCE_COLOR', undefined, { FORCE_COLOR: '1' }, false],
  ])('on %s colours accordingly', (_name, isTTY, env, coloured) => {
    const { heard, out } = listener(isTTY);
    const narrator = new Narrator(out, env);
    narrator.step('One', 'first\nsecond');
    narrator.checked('it held');
    expect(heard.text.includes('\u001b[')).toBe(coloured);
    expect(heard.text).toContain('it held');
  });
});

describe('until', () => {
  it('asks until the answer is right', async () => {
    let asked = 0;
    const ask = () => Promise.resolve((asked += 1));
    expect(await until('three', ask, (n) => n === 3, new AbortController().signal)).toBe(3);
  });

  it('ends at once when it is interrupted', async () => {
    const interruption = new AbortController();
    const waiting = until(
      'never',
      () => Promise.resolve(0),
      () => false,
      interruption.signal,
    );
    interruption.abort();
    await expect(waiting).rejects.toThrow();
  });
});
