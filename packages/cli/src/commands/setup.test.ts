import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { shellWord } from '@git-mesh/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runStubbed, type CliRun } from '../testing/stub-runtime.js';

function place() {
  const home = mkdtempSync(join(tmpdir(), 'git-mesh-setup-'));
  onTestFinished(() => {
    rmSync(home, { recursive: true, force: true });
  });
  const run = (argv: readonly string[], env: Record<string, string> = {}): Promise<CliRun> =>
    runStubbed(argv, { cwd: () => home, homedir: () => home, env });
  return { home, run, file: (...parts: string[]) => join(home, ...parts) };
}

describe('setup', () => {
  it('names the store that GIT_MESH_DIR names here, as that of --dir, for server and hook', async () => {
    const { home, run, file } = place();
    await run(['setup', 'cursor'], { GIT_MESH_DIR: 'stores/studio' });
    const store = resolve(home, 'stores', 'studio');
    expect(JSON.parse(readFileSync(file('.cursor', 'mcp.json'), 'utf8'))).toMatchObject({
      mcpServers: { mesh: { args: ['/opt/git-mesh.mjs', '--dir', store, 'mcp'] } },
    });
    const { hooks } = JSON.parse(readFileSync(file('.cursor', 'hooks.json'), 'utf8')) as { hooks: { stop: [{ command: string }] } }; // prettier-ignore
    expect(hooks.stop[0].command).toContain(`--dir ${shellWord(store)} hook cursor stop`);

    await run(['setup', 'cursor', '--dir', file('other')], { GIT_MESH_DIR: store });
    const text = readFileSync(file('.cursor', 'mcp.json'), 'utf8');
    expect([text.includes(store), text.includes(JSON.stringify(file('other')))]).toEqual([false, true]);
    await run(['setup', 'cursor'], { GIT_MESH_DIR: '' });
    expect(readFileSync(file('.cursor', 'mcp.json'), 'utf8')).not.toContain('--dir');
  });

  it('names no path of this machine in a project’s files, and says what the client must have', async () => {
    const { run, file } = place();
    const argv = ['setup', 'cursor', '--scope', 'project'];
    const env = { GIT_MESH_DIR: '/stores/studio' };
    expect((await run(argv, env)).err).toMatch(/^warning: GIT_MESH_DIR is set here, but a project’s files .*--dir\n$/);
    expect(readFileSync(file('.cursor', 'mcp.json'), 'utf8')).not.toContain('--dir');
    for (const quiet of [
      await run(argv),
      await run([...argv, '--dir', '/s'], env),
      await run([...argv, '--remove'], env),
    ]) {
      expect(quiet).toMatchObject({ code: 0, err: '' });
    }
  });

  it('refuses with --dry-run what it would refuse without, and changes nothing', async () => {
    const { run, file } = place();
    writeFileSync(file('.claude.json'), '{}\n');
    chmodSync(file('.claude.json'), 0o444);
    const [dry, real] = [await run(['setup', 'claude-code', '--dry-run']), await run(['setup', 'claude-code'])];
    expect(dry).toEqual(real);
    expect(dry).toMatchObject({ code: 4, out: '', err: expect.stringContaining('.claude.json cannot be changed, because it is read-only') as string }); // prettier-ignore
    expect(existsSync(file('.claude'))).toBe(false);
    chmodSync(file('.claude.json'), 0o644);
    expect(await run(['setup', 'claude-code', '--dry-run'])).toMatchObject({ code: 0 });
  });
});
