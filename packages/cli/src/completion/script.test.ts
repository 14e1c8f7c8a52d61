import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { runStubbed } from '../testing/stub-runtime.js';

function hasBash(): boolean {
  try {
    execFileSync('bash', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

async function bashCompletes(words: string[]): Promise<string[]> {
  const { out: script } = await runStubbed(['completion', 'bash']);
  const run = `${script}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _git_mesh; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', run, 'bash', ...words], { encoding: 'utf8' })
    .split('\n')
    .filter(Boolean);
}

describe.skipIf(!hasBash())('completion in bash', () => {
  it('offers commands', async () => {
    expect(await bashCompletes(['git-mesh', 'che'])).toEqual(['checkin', 'checkout']);
    expect(await bashCompletes(['git-mesh', '--dir', '/x', 'ini'])).toEqual(['init']);
  });
  it('offers the options of the command that was typed', async () => {
    expect(await bashCompletes(['git-mesh', 'send', 'laptop', '--pay'])).toEqual(['--payload', '--payload-file']);
    expect(await bashCompletes(['git-mesh', 'agents', '--'])).toEqual(
      expect.arrayContaining(['--include-stale', '--json', '--help']),
    );
    expect(await bashCompletes(['git-mesh', 'agents', '--pay'])).toEqual([]);
  });
  it('offers the values that an option or argument may have', async () => {
    expect(await bashCompletes(['git-mesh', 'init', '--policy', ''])).toEqual(['open', 'roster']);
    expect(await bashCompletes(['git-mesh', 'completion', 'p'])).toEqual(['powershell']);
    expect(await bashCompletes(['git-mesh', 'help', 'che'])).toEqual(['checkin', 'checkout']);
  });
  it('offers nothing where free text is expected', async () => {
    expect(await bashCompletes(['git-mesh', 'send', 'a', 'note', '--message', ''])).toEqual([]);
  });
  it('works behind git too', async () => {
    expect(await bashCompletes(['git', 'mesh', 'che'])).toEqual(['checkin', 'checkout']);
    expect(await bashCompletes(['git', '-C', '/x', 'mesh', 'agents', '--inc'])).toEqual(['--include-stale']);
  });
});

describe('every shell’s script', () => {
  it.each(['bash', 'zsh', 'fish', 'powershell'])('for %s knows every command and option', async (shell) => {
    const { code, out } = await runStubbed(['completion', shell]);
    expect(code).toBe(0);
    for (const word of ['checkin', 'inbox', 'include-stale', 'payload-file', 'open', 'dry-run'])
      expect(out).toContain(word);
  });
});
