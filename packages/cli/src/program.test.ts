import { describe, expect, it } from 'vitest';
import { commandGroups } from './commands.js';
import { runStubbed } from './testing/stub-runtime.js';

const names = commandGroups.flatMap(({ commands }) => Object.keys(commands));

describe('the command line', () => {
  it.each(names)('explains %s the same whether that alone is registered or all commands are', async (name) => {
    const alone = await runStubbed([name, '--help']);
    expect(alone.out).toContain(`git-mesh ${name}`);
    expect(alone).toEqual(await runStubbed(['help', name]));
    expect(alone).toEqual(await runStubbed(['--verbose', name, '--help']));
  });

  it('knows all commands where it does not begin with one', async () => {
    const { out } = await runStubbed(['--help']);
    for (const name of names) expect(out).toContain(`\n  ${name} `);
    expect((await runStubbed(['inbx', 'qa'])).err).toContain('inbox');
    expect((await runStubbed(['--json', '--version'])).out).toBe('{"version":"9.9.9"}\n');
    const { out: script } = await runStubbed(['completion', 'bash']);
    for (const name of names) expect(script).toContain(name);
  });

  it('keeps its code where it came to its end, but for a command that stays', async () => {
    let kept = 0;
    const keepCode = (): void => void (kept += 1);
    for (const argv of [['status', '--json'], ['--version'], ['help', 'send']]) {
      expect((await runStubbed(argv, { keepCode, results: { status: {} } })).code).toBe(0);
    }
    expect(kept).toBe(3);
    await runStubbed(['inbx'], { keepCode });
    await runStubbed(['status', '--json'], { keepCode, results: { status: new Error('no') } });
    expect(kept).toBe(3);
  });
});
