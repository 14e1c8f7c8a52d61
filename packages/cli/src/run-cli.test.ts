import { describe, expect, it } from 'vitest';
import { runStubbed } from './testing/stub-runtime.js';

// Loaded as the program loads it: never with the program itself.
const { MeshError } = await import('@git-mesh/core');

const json = (text: string): unknown => JSON.parse(text);

describe('the command line', () => {
  it('shows help when called alone', async () => {
    const { code, out, err } = await runStubbed([]);
    expect([code, err]).toEqual([0, '']);
    for (const name of ['init', 'checkin', 'send', 'completion']) expect(out).toContain(`\n  ${name} `);
  });

  it('has examples in the help of every command', async () => {
    const { out } = await runStubbed([]);
    const names = [...out.matchAll(/^ {2}([a-z]+) .*/gm)]
      .map((match) => match[1] ?? '')
      .filter((name) => name !== 'help');
    expect(names.length).toBe(19);
    for (const name of names) {
      const help = await runStubbed(['help', name]);
      expect([name, help.code, help.out.includes('Examples:')]).toEqual([name, 0, true]);
    }
  });

  it('takes -h for help, everywhere', async () => {
    for (const command of [[], ['send'], ['completion']]) {
      const long = await runStubbed([...command, '--help']);
      expect(await runStubbed([...command, '-h'])).toEqual(long);
      expect([long.code, long.err, long.out.includes('Usage: git-mesh')]).toEqual([0, '', true]);
    }
    expect(json((await runStubbed(['send', '-h', '--json'])).out)).toHaveProperty('help');
  });

  it('prints its version', async () => {
    expect(await runStubbed(['--version'])).toMatchObject({ code: 0, out: '9.9.9\n' });
    expect(json((await runStubbed(['--version', '--json'])).out)).toEqual({ version: '9.9.9' });
  });

  it.each([[['--json', 'status']], [['status', '--json']], [['--dir', '/x', 'status', '--json']]])(
    'takes global options before and after the command: %j',
    async (argv) => {
      const { out } = await runStubbed(argv, { results: { status: { fine: true } } });
      expect(json(out)).toEqual({ fine: true });
    },
  );

  it('uses the store that --dir names, wherever it stands', async () => {
    const seen: (string | undefined)[] = [];
    const locateStore = ({ dir }: { dir?: string | undefined }) => {
      seen.push(dir);
      return Promise.resolve({ dir: '/s', source: '--dir' as const });
    };
    await runStubbed(['--dir', '/a', 'status', '--json'], { access: { locateStore } });
    await runStubbed(['status', '--json', '--dir', '/b'], { access: { locateStore } });
    expect(seen).toEqual(['/a', '/b']);
  });
});

describe('a wrong command line', () => {
  const wrong: [argv: string[], part: string][] = [
    [['snd'], 'Did you mean send?'],
    [['help', 'nonsense'], "unknown command 'nonsense'"],
    [['checkin'], 'agent'],
    [['checkin', 'a', 'b'], 'too many arguments'],
    [['checkin', 'a', '--colour'], '--colour'],
    [['checkin', 'a', '--ttl', '15m'], '--ttl'],
    [['checkin', 'a', '--ttl', '1e3'], '--ttl'],
    [['inbox', 'a', '--limit', ''], '--limit'],
    [['inbox', 'a', '--wait', '99999999999999999999'], '--wait'],
    [['send', 'a', 'note', '--payload', '{}', '--message', 'x'], '--message'],
    [['send', 'a', 'note', '--payload-file', 'f', '--message', 'x'], '--message'],
    [['send', 'a', 'note', '--payload', '{"a":1,}'], 'line 1, column 8'],
    [['send', 'a', 'note', '--payload', '{"a":'], 'ends too early'],
    [['send', 'a', 'note', '--payload-file', '/no/such/file'], 'ENOENT'],
    [['ack', 'a'], '--all'],
    [['ack', 'a', '1', '--all'], 'not both'],
    [['ack', 'a', '99999999999999999999'], 'too large'],
    [['init', '--policy', 'closed'], 'open, roster'],
    [['completion', 'tcsh'], 'bash'],
    [['status', '--quiet', '--verbose'], '--verbose'],
  ];
  it.each(wrong)('%j exits 2 and says %j', async (argv, part) => {
    const asText = await runStubbed(argv);
    expect([asText.code, asText.out]).toEqual([2, '']);
    expect(asText.err).toMatch(/^git-mesh: /);
    expect(asText.err).toContain(part);
    const asJson = await runStubbed([...argv, '--json']);
    expect([asJson.code, asJson.err]).toEqual([2, '']);
    expect(json(asJson.out)).toMatchObject({ error: { code: 400, name: 'invalid_argument' } });
    expect(asJson.calls).toEqual([]);
  });
});

describe('a failing use case', () => {
  it('is one document with its exit code, and closes the mesh', async () => {
    const send = new MeshError('agent_not_alive', 'nobody', { data: { alive_agents: ['qa'] } });
    const run = await runStubbed(['send', 'a', 'note', '--json'], { results: { send } });
    expect(json(run.out)).toEqual({
      error: { code: 404, name: 'agent_not_alive', message: 'nobody', alive_agents: ['qa'] },
    });
    expect([run.code, run.calls.at(-1)]).toEqual([3, ['close']]);
  });

  it('speaks of the command line, not of tools, in both forms', async () => {
    const send = new MeshError('invalid_argument', 'msg_type: expected one of ping, note; got "msg_type"', {
      data: { argument: 'msg_type' },
    });
    const message = 'TYPE: expected one of ping, note; got "msg_type"';
    expect((await runStubbed(['send', 'a', 'x'], { results: { send } })).err).toBe(`git-mesh: ${message}\n`);
    const asJson = await runStubbed(['send', 'a', 'x', '--json'], { results: { send } });
    expect(json(asJson.out)).toEqual({
      error: { code: 400, name: 'invalid_argument', message, argument: 'msg_type' },
    });
  });

  it('exits 10 where there is no mesh', async () => {
    const openMesh = (): Promise<never> => Promise.reject(new MeshError('no_mesh', 'no mesh at /store: git-mesh init'));
    const run = await runStubbed(['status'], { access: { openMesh } });
    expect([run.code, run.out, run.err]).toEqual([10, '', 'git-mesh: no mesh at /store: git-mesh init\n']);
  });

  it('shows the stack of a bug only when asked', async () => {
    const results = { status: new TypeError('x is undefined') };
    const plain = await runStubbed(['status'], { results });
    expect([plain.code, plain.err.includes('x is undefined'), plain.err.includes('    at ')]).toEqual([1, true, false]);
    const verbose = await runStubbed(['status', '--verbose'], { results });
    expect(verbose.err).toContain('    at ');
    const asJson = await runStubbed(['status', '--json'], { results });
    expect(json(asJson.out)).toMatchObject({ error: { code: 500, name: 'unexpected' } });
  });

  it('that the person interrupted exits as a shell would say', async () => {
    const inbox = new MeshError('cancelled', 'cancelled');
    expect(await runStubbed(['inbox', 'a', '--wait', '9'], { results: { inbox } })).toMatchObject({
      code: 130,
      out: '',
    });
  });
});
