import { describe, expect, it } from 'vitest';
import { runStubbed, syncOk } from './testing/stub-runtime.js';

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
    expect(names.length).toBe(35);
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
    await runStubbed(['--dir', '/a', 'status', '--json'], { locateStore });
    await runStubbed(['status', '--json', '--dir', '/b'], { locateStore });
    expect(seen).toEqual(['/a', '/b']);
  });
});

describe('help on a narrow terminal', () => {
  it.each([30, 40, 60, 100])('stays within %d columns, but for what is to be typed', async (columns) => {
    const { out } = await runStubbed([]);
    const names = [...out.matchAll(/^ {2}([a-z]+) .*/gm)].map((match) => match[1] ?? '');
    for (const argv of [[], ...names.map((name) => ['help', name])]) {
      const help = await runStubbed(argv, { isTerminal: true, columns });
      expect([help.code, help.err]).toEqual([0, '']);
      // A term alone on its line (`--payload-file <file>`) and what is to be typed are left whole.
      const whole = /^Usage: |^ {2}\$ |^ {2}\S(?!.*\S {2,}\S)/;
      const long = help.out.split('\n').filter((line) => line.length > columns && !whole.test(line));
      expect([argv, long]).toEqual([argv, []]);
    }
  });

  it('is laid out as usual where the terminal says that it has no columns', async () => {
    expect((await runStubbed(['help', 'send'], { isTerminal: true, columns: 0 })).out).toBe(
      (await runStubbed(['help', 'send'])).out,
    );
  });
});

describe('a result that cannot be printed', () => {
  const send = { id: 'X', message_id: 1, to: 'a', to_agent: null, msg_type: 'note', state: 'pushed', recipients: [] };
  it.each([[[]], [['--json']], [['--quiet']]])('says that the act was done: send %j', async (flags) => {
    const run = await runStubbed(['send', 'a', 'note', ...flags], { results: { send }, stdoutFull: true });
    if (flags[0] === '--quiet') expect([run.code, run.err]).toEqual([0, '']);
    else {
      const wanted = 'git-mesh: this was done, so do not do it again; only the result could not be printed: ENOSPC\n';
      expect([run.code, run.err]).toEqual([6, wanted]);
    }
    expect(run.calls[0]).toEqual(['send', { to: 'a', msg_type: 'note' }]);
  });

  it('is no act where the command only answers', async () => {
    const run = await runStubbed(['sent', '--json'], {
      results: { sent: { messages: [], sync: syncOk } },
      stdoutFull: true,
    });
    expect([run.code, run.err]).toEqual([6, 'git-mesh: the result could not be printed: ENOSPC\n']);
  });

  it('leaves the exit code of a failure and of guard as it is', async () => {
    const none = new MeshError('machine_not_found', 'nobody');
    const failed = await runStubbed(['send', 'a', 'note', '--json'], { results: { send: none }, stdoutFull: true });
    expect([failed.code, failed.err]).toEqual([3, 'git-mesh: nobody\n']);
    const freeze = { repo: null, machine: 'm', agent: null, reason: null, message_id: 1, since: 'x', expires_at: 'x' };
    const agents = { freezes: [freeze], sync: syncOk };
    const guard = await runStubbed(['guard'], { results: { agents }, stdoutFull: true });
    expect([guard.code, guard.err]).toEqual([20, 'warning: the result could not be printed: ENOSPC\n']);
    const free = { freezes: [], sync: syncOk };
    const open = await runStubbed(['guard'], { results: { agents: free }, stdoutFull: true });
    expect([open.code, open.err]).toEqual([0, 'warning: the result could not be printed: ENOSPC\n']);
  });
});

describe('a wrong command line', () => {
  const wrong: [argv: string[], part: string][] = [
    [['snd'], 'Did you mean send?'],
    [['nonsense'], "unknown command 'nonsense' (git-mesh --help lists the commands)"],
    [['help', 'nonsense'], "unknown command 'nonsense'"],
    [['checkin'], 'agent'],
    [['checkin', 'a', 'b'], 'too many arguments'],
    [['send', 'a'], "missing required argument 'type' (git-mesh help send shows how)"],
    [['guard', '--repo', ''], '--repo is empty'],
    [['checkin', 'a', '--colour'], '--colour'],
    [['checkin', 'a', '--ttl', '15m'], '--ttl'],
    [['checkin', 'a', '--ttl', '1e3'], '--ttl'],
    [['inbox', 'a', '--limit', ''], '--limit'],
    [['inbox', 'a', '--wait', '99999999999999999999'], '--wait'],
    [['send', 'a', 'note', '--payload', '{}', '--message', 'x'], '--message'],
    [['send', 'a', 'note', '--payload-file', 'f', '--message', 'x'], '--message'],
    [['send', 'a', 'note', '--payload', '{"a":1,}'], 'line 1, column 8'],
    [['send', 'a', 'note', '--payload', '{"a":'], 'ends too early'],
    [['send', 'a', 'note', '--payload-file', '/no/such/file'], 'no such file (ENOENT)'],
    [['send', 'a', 'note', '--payload-file', '/'], 'it is a folder'],
    [['send', 'a', 'note', '--payload-file', ''], '--payload-file is empty'],
    [['send', 'a', 'note', '--payload-file', '-'], 'stdin is empty'],
    [['send', 'a', 'note', '--payload', ' '], '--payload is empty'],
    [['send', 'a', 'note', '--payload', '{"n":9007199254740993}'], '9007199254740993 (line 1, column 6)'],
    [['send', 'a', 'note', '--payload', '{"a":1,"a":2}'], 'the key "a" (line 1, column 8) is there twice'],
    [['ack', 'a'], '--all'],
    [['ack', 'a', '1', '--all'], 'not both'],
    [['ack', 'a', '99999999999999999999'], 'too large'],
    [['init', '--policy', 'closed'], 'open, roster'],
    [['completion', 'tcsh'], 'bash'],
    [['mcp', '--http', 'x'], 'a whole number'],
    [['mcp', '--http', '65536'], 'a port, 0 to 65535'],
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

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ])('that %s ended while it waited prints nothing and exits %d', async (signal, code) => {
    const interruption = AbortSignal.abort(signal);
    const inbox = { agent_id: 'a', messages: [], remaining: 0, sync: syncOk };
    const run = await runStubbed(['inbox', 'a', '--wait', '9'], { results: { inbox }, interruption });
    expect([run.code, run.out, run.err]).toEqual([code, '', '']);
  });

  it('ends a hook with 1 where its arguments are wrong: clients take 2 for a veto', async () => {
    for (const argv of [
      ['hook', 'nobody', 'Stop'],
      ['hook', 'codex', 'PreToolUse'],
      ['--dir', '/x', 'hook', 'codex'],
      ['hook', 'codex', 'Stop', '--no'],
    ]) {
      // prettier-ignore
      expect(await runStubbed(argv)).toMatchObject({ code: 1, out: '' });
    }
    expect((await runStubbed(['inbox', '--dir', 'hook'])).code).toBe(2);
  });
});
