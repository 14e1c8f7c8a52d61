import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { start, type StartHost } from './start.js';

const nodeRequire = createRequire(import.meta.url);
let root: string;
let compiledBytes: number;

/** The command line of this bundle keeps its code at once. */
const main = 'exports.main = ({ keepCode } = {}) => { keepCode?.(); keepCode?.(); };';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'git-mesh-start-'));
  writeFileSync(join(root, 'main.cjs'), main);
  compiledBytes = 1000;
  vi.stubGlobal('bundleId', 'b');
  vi.stubGlobal('mainPart', 'main.cjs');
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
  vi.unstubAllGlobals();
});

function run(argv: string[], change: Partial<StartHost> = {}): void {
  start({
    bundle: root,
    argv,
    env: { XDG_CACHE_HOME: root, LOCALAPPDATA: root },
    execArgv: [],
    version: 'v20.19.0',
    arch: 'x64',
    pid: 4,
    platform: process.platform === 'win32' ? 'win32' : 'linux',
    uid: process.getuid?.(),
    now: Date.now,
    sourceMapsEnabled: false,
    homedir: () => root,
    require: nodeRequire,
    compiledBytes: () => compiledBytes,
    ...change,
  });
}

/** What is kept, as `<command>`, of all keys. */
function kept(): string[] {
  const folder = join(root, 'git-mesh', 'code');
  return readdirSync(folder).flatMap((key) => readdirSync(join(folder, key)));
}

/** Whether that run wrote the file of `inbox`. */
function writes(change?: Partial<StartHost>): boolean {
  const folder = join(root, 'git-mesh', 'code');
  const [key = ''] = readdirSync(folder);
  const file = join(folder, key, 'inbox');
  utimesSync(file, 1, 1);
  run(['inbox', 'qa'], change);
  return statSync(file).mtimeMs > 1000;
}

describe('the start of a command', () => {
  it('keeps the code of each command by its name', () => {
    for (const argv of [['inbox', 'qa'], ['--dir', 'x', 'hook'], ['--json', 'sent'], ['--version'], []]) run(argv);
    expect(kept().sort()).toEqual(['hook', 'inbox', 'none', 'sent']);
    run(['../../x']);
    run(['Inbox']);
    expect(kept()).toHaveLength(4);
  });

  it('writes it again only where a run compiled a tenth more, and one in eight looks', () => {
    run(['inbox', 'qa']);
    expect(writes()).toBe(false);
    compiledBytes = 1090;
    expect(writes({ pid: 32 })).toBe(false);
    compiledBytes = 1110;
    expect(writes()).toBe(false);
    expect(writes({ pid: 32 })).toBe(true);
    expect(writes({ pid: 32 })).toBe(false);
  });

  it('writes it again once where the engine refuses it', () => {
    run(['inbox', 'qa']);
    writeFileSync(join(root, 'main.cjs'), `${main}\n`);
    expect(writes()).toBe(true);
    expect(writes()).toBe(false);
    writeFileSync(join(root, 'main.cjs'), `${main}\n\n`);
    expect(writes()).toBe(false);
  });

  it('keeps what other runs of the command load', () => {
    const load = 'if (process.env.GIT_MESH_PART) require(process.env.GIT_MESH_PART); ' + main;
    writeFileSync(join(root, 'main.cjs'), load);
    for (const name of ['a', 'b']) writeFileSync(join(root, `${name}.cjs`), '');
    const writesWith = (name: string): boolean => {
      vi.stubEnv('GIT_MESH_PART', `./${name}.cjs`);
      return writes();
    };
    run(['inbox', 'qa']);
    expect(['a', 'b', 'a', 'b'].map(writesWith)).toEqual([true, true, false, false]);
    vi.unstubAllEnvs();
  });

  it('keeps apart what another Node, other flags or another folder compiled', () => {
    const env = { XDG_CACHE_HOME: root, LOCALAPPDATA: root };
    const changes = [{}, { version: 'v22.8.0' }, { execArgv: ['--jitless'] }, { env: { ...env, NODE_OPTIONS: '--x' } }];
    for (const change of changes) run(['inbox'], change);
    expect(kept()).toEqual(['inbox', 'inbox', 'inbox', 'inbox']);
  });

  it('keeps none where that is turned off, coverage or sources are asked for, or there is no place', () => {
    const env = { XDG_CACHE_HOME: root, LOCALAPPDATA: root };
    run(['inbox'], { env: { ...env, GIT_MESH_NO_CODE_CACHE: '1' } });
    run(['inbox'], { env: { ...env, NODE_V8_COVERAGE: root } });
    run(['inbox'], { sourceMapsEnabled: true });
    run(['inbox'], { env: {}, homedir: () => { throw new Error('no home'); } }); // prettier-ignore
    run(['inbox'], { env: {}, homedir: () => '' });
    expect(readdirSync(root)).toEqual(['main.cjs']);
  });
});
