import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FreezeView } from '@git-mesh/core';
import { describe, expect, it } from 'vitest';
import { runStubbed, syncOk, type Call, type StubOptions } from './testing/stub-runtime.js';

// Loaded as the program loads it: never with the program itself.
const { MeshError } = await import('@git-mesh/core');

/** The use cases' own tests check results; here any document will do, since only `--json` prints it. */
const anything = { stubbed: true };
const results = {
  checkin: { preview: false },
  checkout: { preview: false },
  ack: { preview: false },
  send: anything,
  inbox: anything,
  sent: anything,
  agents: { freezes: [], sync: syncOk },
  status: anything,
  doctor: { ok: true, problems: [] },
  maintain: anything,
};
async function calls(argv: string[], options: StubOptions = {}): Promise<Call[]> {
  const run = await runStubbed([...argv, '--json'], { results, ...options });
  expect([run.code, run.err]).toEqual([0, '']);
  return run.calls;
}
const close: Call = ['close'];
const synced: Call = ['inlineSync', 5000];

describe('commands hand the tool its input', () => {
  it('checkin looks first, so that old mail stays out of the new inbox, and publishes after', async () => {
    const argv = 'checkin Boss --role r --repo shop --cap a --cap b --status s --ttl 900 --herdr-pane p1'.split(' ');
    const input = { agent_id: 'Boss', role: 'r', repo: 'shop', caps: ['a', 'b'], status: 's', ttl_seconds: 900, herdr_pane: 'p1', confirm: true }; // prettier-ignore
    expect(await calls(argv)).toEqual([['inlineSync', 2000], ['checkin', input], synced, close]);
    expect(await calls(['checkin', 'a'])).toContainEqual(['checkin', { agent_id: 'a', confirm: true }]);
  });

  it('a dry run publishes nothing', async () => {
    const preview = { results: { checkin: { preview: true }, checkout: { preview: true }, ack: { preview: true } } };
    expect(await calls(['checkin', 'a', '--dry-run'], preview)).toEqual([['inlineSync', 2000], ['checkin', { agent_id: 'a', confirm: false }], close]); // prettier-ignore
    expect(await calls(['checkout', 'a', '--dry-run'], preview)).toEqual([['checkout', { agent_id: 'a', confirm: false }], close]); // prettier-ignore
    expect(await calls(['ack', 'a', '--all', '--dry-run'], preview)).toEqual([['ack', { agent_id: 'a', all: true, confirm: false }], close]); // prettier-ignore
  });

  it('checkout and ack act first and then get it out', async () => {
    expect(await calls(['checkout', 'a'])).toEqual([['checkout', { agent_id: 'a', confirm: true }], synced, close]);
    const ulid = '01KBEST0000000000000000001';
    const input = { agent_id: 'qa', message_ids: [12, ulid, 13], confirm: true };
    expect(await calls(['ack', 'qa', '12', ulid, '13'])).toEqual([['ack', input], synced, close]);
    expect(await calls(['ack', 'qa', '--all'])).toContainEqual(['ack', { agent_id: 'qa', all: true, confirm: true }]);
  });

  it('leave and rotate-key act and get it out, and preview with --dry-run', async () => {
    const done = { results: { leave: { preview: false }, rotateKey: { preview: false } } };
    const preview = { results: { leave: { preview: true }, rotateKey: { preview: true } } };
    for (const [name, use] of [
      ['leave', 'leave'],
      ['rotate-key', 'rotateKey'],
    ] as const) {
      expect(await calls([name], done)).toEqual([[use, { confirm: true }], synced, close]);
      expect(await calls([name, '--dry-run'], preview)).toEqual([[use, { confirm: false }], close]);
    }
  });

  it('takes a ULID of digits alone for a ULID', async () => {
    const ulid = '01234567890123456789012345';
    expect(await calls(['ack', 'qa', ulid])).toContainEqual([
      'ack',
      { agent_id: 'qa', message_ids: [ulid], confirm: true },
    ]);
  });

  it('send maps every flag', async () => {
    const argv = ['send', 'laptop', 'note', '--to-agent', 'qa', '--from', 'boss', '--message', 'hi\n--json', '--reply-to', '7', '--ttl', '60', '--key', 'k']; // prettier-ignore
    const input = { to: 'laptop', msg_type: 'note', to_agent: 'qa', from_agent: 'boss', payload: { message: 'hi\n--json' }, in_reply_to: 7, ttl_seconds: 60, key: 'k' }; // prettier-ignore
    expect(await calls(argv)).toEqual([['send', input], synced, close]);
    expect(await calls(['send', '*', 'freeze'])).toContainEqual(['send', { to: '*', msg_type: 'freeze' }]);
  });

  it('send tells how far the message got in its own exchange', async () => {
    const send = { id: 'X', state: 'queued' };
    const sent = {
      messages: [
        { id: 'Y', state: 'acked' },
        { id: 'X', state: 'pushed' },
      ],
    };
    const run = await runStubbed(['send', 'a', 'note', '--json'], { results: { send, sent } });
    expect(JSON.parse(run.out)).toEqual({ id: 'X', state: 'pushed' });
    expect(run.calls.map(([name]) => name)).toEqual(['send', 'inlineSync', 'sent', 'close']);
    const offline = await runStubbed(['send', 'a', 'note', '--json'], { results: { send, sent: { messages: [] } } });
    expect(JSON.parse(offline.out)).toEqual(send);
    const unreadable = { send, sent: new MeshError('store_damaged', 'x') };
    const blind = await runStubbed(['send', 'a', 'note', '--json'], { results: unreadable });
    expect([blind.code, JSON.parse(blind.out)]).toEqual([0, send]);
  });

  it('send takes an option-like text as the message it is', async () => {
    const run = await runStubbed(['send', 'a', 'note', '--message', '--json'], { results });
    expect(run.calls[0]).toEqual(['send', { to: 'a', msg_type: 'note', payload: { message: '--json' } }]);
  });

  it('send leaves the payload unchecked but for being JSON, from a flag, a file or stdin', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'git-mesh-cli-'));
    try {
      const file = join(folder, 'p.json');
      writeFileSync(file, '\ufeff{"a":[1,null]}');
      const sent = (payload: unknown): Call => ['send', { to: 'a', msg_type: 'note', payload }];
      expect(await calls(['send', 'a', 'note', '--payload', '[1]'])).toContainEqual(sent([1]));
      expect(await calls(['send', 'a', 'note', '--payload-file', file])).toContainEqual(sent({ a: [1, null] }));
      const piped = await calls(['send', 'a', 'note', '--payload-file', '-'], { stdin: '{"x":"é"}' });
      expect(piped).toContainEqual(sent({ x: 'é' }));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('reading commands look first', async () => {
    expect(await calls(['agents', '--as', 'a', '--include-stale'])).toEqual([synced, ['agents', { agent_id: 'a', include_stale: true }], close]); // prettier-ignore
    expect(await calls(['agents'])).toEqual([synced, ['agents', {}], close]);
    expect(await calls(['sent', '--as', 'a', '--limit', '5'])).toEqual([synced, ['sent', { agent_id: 'a', limit: 5 }], close]); // prettier-ignore
    expect(await calls(['inbox', 'qa', '--limit', '5', '--after', '12'])).toEqual([synced, ['inbox', { agent_id: 'qa', limit: 5, after: 12 }], close]); // prettier-ignore
  });

  it('status, doctor, maintain and log ask no remote', async () => {
    expect(await calls(['status'])).toEqual([['status'], close]);
    expect(await calls(['doctor'])).toEqual([['doctor'], close]);
    expect(await calls(['maintain'])).toEqual([['maintain'], close]);
    const argv = 'log --agent a --machine m --repo r --type note --since 2026-12-01 --until 2026-12-02 --grep x --message 12 --unacked --limit 3'; // prettier-ignore
    const input = { agent: 'a', machine: 'm', repo: 'r', type: 'note', since: '2026-12-01', until: '2026-12-02', grep: 'x', message: 12, unacked: true, limit: 3 }; // prettier-ignore
    expect(await calls(argv.split(' '))).toEqual([['log', input], close]);
  });

  it('a waiting inbox works for itself only where nobody else does', async () => {
    const input = { agent_id: 'qa', wait_seconds: 5 };
    expect(await calls(['inbox', 'qa', '--wait', '5'])).toEqual([synced, ['startWorker'], ['inbox', input], close]);
    expect(await calls(['inbox', 'qa', '--wait', '5'], { workerAlive: true })).toEqual([
      synced,
      ['inbox', input],
      close,
    ]);
  });
});

describe('a command whose exchange fails', () => {
  it('still gives its result, and warns', async () => {
    const inlineSync = new MeshError('locked', 'the store is locked by pid 7');
    const run = await runStubbed(['send', 'a', 'note', '--json'], { results: { ...results, inlineSync } });
    expect([run.code, JSON.parse(run.out)]).toEqual([0, anything]);
    expect(run.err).toContain('the store is locked by pid 7');
  });
  it('gives its result and warns, too, where the system refused a step', async () => {
    const inlineSync = Object.assign(new Error('EMFILE: too many open files, open x'), { code: 'EMFILE', errno: -24, syscall: 'open' }); // prettier-ignore
    const run = await runStubbed(['send', 'a', 'note', '--json'], { results: { ...results, inlineSync } });
    expect([run.code, JSON.parse(run.out)]).toEqual([0, anything]);
    expect(run.err).toContain('warning: not synchronised: the system refused a step: EMFILE');
  });
  it('speaks of no storing where the store cannot be written', async () => {
    const told = 'mesh/lock cannot be written (EACCES): nothing was stored; make the store writable';
    const inlineSync = new MeshError('read_only', told, { data: { errno: 'EACCES' } });
    const run = await runStubbed(['agents'], { results: { ...results, inlineSync } });
    expect(run.err).toContain('warning: not synchronised: the store cannot be written (EACCES) and takes in nothing');
    expect(run.err).not.toContain('nothing was stored');
  });
  it('does not hide a bug', async () => {
    const run = await runStubbed(['agents', '--json'], { results: { ...results, inlineSync: new TypeError('oops') } });
    expect(run.code).toBe(1);
    expect(run.calls.at(-1)).toEqual(close);
  });
});

describe('sync', () => {
  it.each([
    ['ok', 0],
    ['none', 0],
    ['partial', 5],
    ['offline', 5],
  ])('exits as its state %s asks', async (state, code) => {
    const run = await runStubbed(['sync', '--json'], {
      results: { syncNow: { ...syncOk, state }, status: { problems: [] } },
    });
    expect([run.code, run.calls]).toEqual([code, [['syncNow'], ['status'], close]]);
  });

  it.each([[[]], [['--json']]])('tells what was done to branches on a remote: %j', async (flags) => {
    const problems = [
      { kind: 'branch_rewound', machine: 'laptop', message: 'the branch of laptop was put back' },
      { kind: 'clock_skew', machine: 'laptop', message: 'of no concern here' },
    ];
    const run = await runStubbed(['sync', ...flags], { results: { syncNow: syncOk, status: { problems } } });
    expect(run.code).toBe(0);
    expect(run.out + run.err).toContain('the branch of laptop was put back');
    expect(run.out + run.err).not.toContain('of no concern');
  });
});

describe('sync --history', () => {
  const missing = { older_commits: 40_000, machines: ['laptop'] };
  const problem = { kind: 'unreachable', message: 'remote origin: nobody answers', fix: 'ask' };

  it('exchanges first, then gets the rest, and says that all is here', async () => {
    const fetchHistory = { complete: true, fetched: 12, problems: [] };
    const run = await runStubbed(['sync', '--history'], { results: { fetchHistory } });
    expect(run.calls.map(([name]) => name)).toEqual(['syncNow', 'fetchHistory', 'close']);
    expect(run).toMatchObject({ code: 0, err: '' });
    expect(run.out).toBe('Up to date.\n12 older commits fetched and checked. The whole history is here.\n');
    const json = await runStubbed(['sync', '--history', '--json'], { results: { fetchHistory } });
    expect(JSON.parse(json.out)).toEqual({ ...syncOk, history: fetchHistory });
  });

  it('names what is still missing and why', async () => {
    const fetchHistory = { complete: false, fetched: 0, history: missing, problems: [problem] };
    const run = await runStubbed(['sync', '--history'], { results: { fetchHistory } });
    expect(run.out).toContain('Still missing: 40000 older commits of laptop are not in this store');
    expect(run.err).toContain('nobody answers');
    expect((await runStubbed(['sync', '--history', '--watch'])).code).toBe(2);
  });
});

describe('sync --watch', () => {
  it('works until it is told to end, and then ends well', async () => {
    const told = new AbortController();
    const running = runStubbed(['sync', '--watch', '--json'], { interruption: told.signal });
    const first = await Promise.race([running, new Promise((resolve) => setImmediate(resolve, 'still running'))]);
    expect(first).toBe('still running');
    told.abort();
    const { code, out, calls: made } = await running;
    expect([code, JSON.parse(out), made]).toEqual([0, syncOk, [['startWorker'], close]]);
  });
});

describe('--quiet', () => {
  const preview = { preview: true, agent_id: 'a', machine: 'm', next: 'confirm' };
  it('leaves out what only confirms, and keeps answers', async () => {
    const done = { results: { checkout: { ...preview, preview: false } } };
    expect((await runStubbed(['checkout', 'a'], done)).out).toBe('Checked out a@m.\n');
    expect((await runStubbed(['checkout', 'a', '--quiet'], done)).out).toBe('');
    const answer = await runStubbed(['checkout', 'a', '--dry-run', '--quiet'], { results: { checkout: preview } });
    expect(answer.out).toContain('Would check out a@m.');
  });
});

describe('doctor', () => {
  it('exits 1 with problems, and prints them as its result', async () => {
    const doctor = { ok: false, problems: [{ kind: 'bad_file', machine: 'mallory', message: 'no' }] };
    const run = await runStubbed(['doctor', '--json'], { results: { doctor } });
    expect([run.code, JSON.parse(run.out)]).toEqual([1, doctor]);
  });
});

describe('guard', () => {
  it('says nothing with --quiet where no freeze is in force', async () => {
    const agents = { freezes: [], sync: syncOk };
    expect(await runStubbed(['guard'], { results: { agents } })).toMatchObject({ code: 0, out: 'No freeze is in force.\n' }); // prettier-ignore
    expect(await runStubbed(['guard', '--quiet'], { results: { agents } })).toMatchObject({
      code: 0,
      out: '',
      err: '',
    });
  });

  const freeze = (repo: string | null): FreezeView =>
    ({ message_id: 3, id: 'X', machine: 'm', agent: null, repo, reason: 'r', since: '2026-12-02T04:00:00.000Z', expires_at: '2026-12-03T04:00:00.000Z' }) as FreezeView; // prettier-ignore
  const offline = { ...syncOk, state: 'offline', error: { name: 'unreachable', message: 'no route' } };
  const guard = (argv: string[], freezes: FreezeView[], sync: object = syncOk) =>
    runStubbed(['guard', ...argv], { results: { agents: { freezes, sync } } });

  it('exits 20 for the repository that is frozen, and for every one by a freeze without', async () => {
    expect((await guard(['--repo', 'shop'], [freeze('shop')])).code).toBe(20);
    expect((await guard(['--repo', 'shop'], [freeze(null)])).code).toBe(20);
    expect((await guard(['--repo', 'shop'], [freeze('other')])).code).toBe(0);
    expect((await guard([], [freeze('other')])).code).toBe(20);
    expect((await guard([], [])).calls[0]).toEqual(['inlineSync', 2000]);
  });
  it('warns about a stale view, and does not trust one with --strict', async () => {
    const warned = await guard([], [], offline);
    expect([warned.code, warned.err.includes('no route')]).toEqual([0, true]);
    const strict = await guard(['--strict', '--json'], [], offline);
    expect([strict.code, JSON.parse(strict.out)]).toMatchObject([5, { error: { name: 'unreachable' } }]);
    expect((await guard(['--strict'], [freeze(null)], offline)).code).toBe(20);
  });
});

describe('log', () => {
  const log = Array.from({ length: 5 }, (_, n) => ({ event: 'send', subject: `s${n}` }));
  it('prints one JSON document a line', async () => {
    const { out } = await runStubbed(['log', '--json'], { results: { log } });
    expect(out.trimEnd().split('\n').map((line) => JSON.parse(line) as unknown)).toEqual(log); // prettier-ignore
  });
  it('stops when nobody reads on', async () => {
    const { out, code } = await runStubbed(['log', '--json'], { results: { log }, closesAfter: 2 });
    expect([code, out.trimEnd().split('\n').length]).toEqual([0, 2]);
  });
});

describe('log in a store without the older history', () => {
  const results = {
    log: [{ event: 'send', subject: 's', at: '2026-12-01T00:00:00.000Z' }],
    edges: [{ machine: 'laptop' }],
  };

  it('says on stderr that there is more, unless a limit ended it', async () => {
    const all = await runStubbed(['log', '--json'], { results });
    expect(all.err).toBe('warning: older history of laptop is not in this store: git-mesh sync --history gets it\n');
    expect((await runStubbed(['log', '--json', '--limit', '1'], { results })).err).toBe('');
  });
});

describe('remote', () => {
  const far = { name: 'far', url: 'https://h/x.git', state: 'ok', last_ok_at: null, next_try_at: null, queued: 0, error: null }; // prettier-ignore
  const result = { name: 'far', url: 'https://h/x.git', found: 'empty', problems: [], writable: true, remotes: [far] };
  const recorded = () => {
    const seen: object[] = [];
    const record = (options: object): Promise<never> => {
      const { logger: _logger, ...rest } = options as { logger: unknown };
      seen.push(rest);
      return Promise.resolve(result as never);
    };
    return { seen, access: { addRemote: record, removeRemote: record } };
  };

  it('lists where nothing else is asked', async () => {
    const results = { status: { remotes: [far] } };
    for (const argv of [['remote'], ['remote', 'list']]) {
      const run = await runStubbed([...argv, '--json'], { results });
      expect([run.code, JSON.parse(run.out)]).toEqual([0, { remotes: [far] }]);
    }
    expect((await runStubbed(['remote'], { results })).out).toContain('far https://h/x.git');
    expect((await runStubbed(['remote'], { results: { status: { remotes: [] } } })).out).toContain('remote add');
  });

  it('adds and removes what was named', async () => {
    const { seen, access } = recorded();
    const added = await runStubbed(['remote', 'add', 'far', 'here/x.git', '--allow-public', '--json'], { access });
    expect([added.code, JSON.parse(added.out)]).toEqual([0, result]);
    expect((await runStubbed(['remote', 'remove', 'far'], { access })).out).toContain('Removed the remote far');
    expect(seen).toEqual([
      { dir: '/store', env: {}, name: 'far', url: '/work/here/here/x.git', allowPublic: true },
      { dir: '/store', env: {}, name: 'far' },
    ]);
  });

  it('says why nothing is there yet', async () => {
    const broken = { ...far, state: 'error', error: { name: 'push_refused', message: 'no pushes on Friday' } };
    const access = { addRemote: () => Promise.resolve({ ...result, writable: false, remotes: [broken] } as never) };
    const run = await runStubbed(['remote', 'add', 'far', 'https://h/x.git'], { access });
    expect([run.code, run.err]).toEqual([0, expect.stringContaining('no pushes on Friday')]);
  });

  it.each([
    ['add'],
    ['add', 'far'],
    ['remove'],
    ['remove', 'far', 'https://h/x.git'],
    ['list', 'far'],
    ['list', '--allow-public'],
    ['rename', 'a', 'b'],
  ])('refuses %s %s %s as wrong use', async (...argv) => {
    const run = await runStubbed(['remote', ...argv], recorded());
    expect(run.code).toBe(2);
  });
});

describe('init and join', () => {
  const made = { mesh: { id: 'X', name: 'm' }, machine: 'studio', store: '/s', remotes: [], writable: true };
  it('hand over what was typed, with relative paths made absolute', async () => {
    const seen: object[] = [];
    const record = (options: object): Promise<never> => {
      const { logger: _logger, ...rest } = options as { logger: unknown };
      seen.push(rest);
      return Promise.resolve(made as never);
    };
    const access = { initMesh: record, joinMesh: record };
    await runStubbed(['init', '--remote', '/srv/h.git', '--machine', 'a', '--label', 'l', '--policy', 'roster', '--ref-prefix', 'refs/mesh/', '--json', '--dir', '/d'], { access }); // prettier-ignore
    await runStubbed(['join', 'https://h/x.git', '--json'], { access });
    await runStubbed(['init', '--remote', 'https://h/x.git', '--allow-public', '--json'], { access });
    await runStubbed(['join', 'https://h/x.git', '--allow-public', '--json'], { access });
    expect(seen).toEqual([
      { dir: '/d', env: {}, hostname: 'Studio.local', remote: '/srv/h.git', machine: 'a', label: 'l', policy: 'roster', refPrefix: 'refs/mesh/' }, // prettier-ignore
      { dir: '/store', env: {}, hostname: 'Studio.local', url: 'https://h/x.git' },
      { dir: '/store', env: {}, hostname: 'Studio.local', remote: 'https://h/x.git', allowPublic: true },
      { dir: '/store', env: {}, hostname: 'Studio.local', url: 'https://h/x.git', allowPublic: true },
    ]);
  });

  it('show their steps only where a person watches', async () => {
    const access: StubOptions['access'] = {
      joinMesh: ({ onProgress }) => {
        onProgress?.('fetching');
        return Promise.resolve(made as never);
      },
    };
    expect((await runStubbed(['join', '/x'], { access, isTerminal: true })).err).toContain('fetching');
    expect((await runStubbed(['join', '/x'], { access })).err).toBe('');
    expect((await runStubbed(['join', '/x', '--json'], { access, isTerminal: true })).err).toBe('');
  });
});

describe('who belongs', () => {
  const key = 'SHA256:q8uJXQxbVJnKfE0m3tqL2vYw7Rz5sTn1oPd4hGcA9iM';
  const admitted = { preview: false, machine: 'laptop', key, already: false };
  const revoked = { preview: false, machine: 'laptop', key, through: { seq: 41, commit: 'c' }, binds: 'everywhere' };

  it('admit looks first, for a machine that has just joined, acts and gets it out', async () => {
    const options = { results: { admit: admitted } };
    const look: Call = ['inlineSync', 2000];
    expect(await calls(['admit', 'laptop'], options)).toEqual([look, ['admit', { machine: 'laptop', confirm: true }], synced, close]); // prettier-ignore
    expect(await calls(['admit', 'laptop', '--key', key], options)).toContainEqual(['admit', { machine: 'laptop', key, confirm: true }]); // prettier-ignore
    expect((await runStubbed(['admit', 'laptop'], options)).out).toBe(`Admitted laptop with the key ${key}.\n`);
    const again = { results: { admit: { ...admitted, already: true } } };
    expect((await runStubbed(['admit', 'laptop'], again)).out).toBe(`Already admitted: laptop with the key ${key}.\n`);
  });

  it('revoke takes nothing in before it acts', async () => {
    const options = { results: { revoke: revoked } };
    expect(await calls(['revoke', 'laptop'], options)).toEqual([['revoke', { machine: 'laptop', confirm: true }], synced, close]); // prettier-ignore
    const run = await runStubbed(['revoke', 'laptop'], options);
    expect(run.out).toBe(
      `Revoked laptop (key ${key}) through commit 41, for all machines: what it writes after that is not read.\n`,
    );
  });

  it('a dry run of either publishes nothing and says how to go on', async () => {
    const next = 'Nothing has changed. Call agent_mesh_admit again with confirm: true to admit it.';
    const results = {
      admit: { ...admitted, preview: true, next },
      revoke: { ...revoked, preview: true, binds: 'here' },
    };
    const run = await runStubbed(['admit', 'laptop', '--dry-run'], { results });
    expect(run.calls.map(([name]) => name)).toEqual(['inlineSync', 'admit', 'close']);
    expect(run.out).toBe(
      `Would admit laptop with the key ${key}.\nNothing has changed. Run it again without --dry-run to admit it.\n`,
    );
    const revoke = await runStubbed(['revoke', 'laptop', '--dry-run'], { results });
    expect(revoke.calls).toEqual([['revoke', { machine: 'laptop', confirm: false }], close]);
    expect(revoke.out).toBe(`Would revoke laptop (key ${key}) through commit 41, for this machine alone.\n`);
  });

  it('keys is a table, or the very file for git', async () => {
    const of = (machine: string, standing: string, by: string | null): object => ({ machine, key, public_key: 'ssh-ed25519 AAAA', standing, verified: 'signed', by, previous: [] }); // prettier-ignore
    const signers = 'laptop@mesh.invalid namespaces="git" ssh-ed25519 AAAA\nstudio@mesh.invalid namespaces="git" ssh-ed25519 BBBB\n'; // prettier-ignore
    const keys = { machine: 'studio', policy: 'roster', keys: [of('laptop', 'admitted', 'studio'), of('studio', 'founder', null)], allowed_signers: signers }; // prettier-ignore
    const options = { results: { keys } };
    expect(await calls(['keys'], options)).toEqual([synced, ['keys'], close]);
    expect((await runStubbed(['keys'], options)).out.split('\n')).toEqual([
      'MACHINE  STANDING            KEY',
      `laptop   admitted by studio  ${key}`,
      `studio   founder             ${key}`,
      'Policy: roster',
      '',
    ]);
    expect((await runStubbed(['keys', '--allowed-signers'], options)).out).toBe(signers);
    expect(JSON.parse((await runStubbed(['keys', '--allowed-signers', '--json'], options)).out)).toEqual(keys);
  });

  it('agents shows what is wrong with machines, in safe words', async () => {
    const problems = [
      { kind: 'not_admitted', machine: 'desk', message: 'desk \u001b[31mwaits', fix: 'git mesh admit desk' },
    ];
    const agents = { machine: 'studio', agents: [], machines: [], freezes: [], sync: syncOk, problems };
    const run = await runStubbed(['agents'], { results: { agents } });
    expect(run.out).toMatch(/✗ not_admitted \[desk\]: desk .*waits\n {2}fix: git mesh admit desk\n$/);
    expect(run.out).not.toContain('\u001b');
  });
});

describe('bundles', () => {
  const exported = { file: '/work/here/x.bundle', branches: 2, commits: 5, left_out: [] };
  const imported = { file: '-', branches: 1, commits: 1, arrived: 1, rejected: [] };

  it('export exchanges first, so that the newest goes into the file, whose path is made absolute', async () => {
    const made = await calls(['export', 'x.bundle', '--since-last', 'lab'], { results: { exportBundle: exported } });
    expect(made).toMatchObject([synced, ['exportBundle', { file: '/work/here/x.bundle', sinceLast: 'lab' }], close]);
  });

  it('import exchanges afterwards, so that remotes get what was carried here', async () => {
    const made = await calls(['import', 'x.bundle'], { results: { importBundle: imported } });
    expect(made).toEqual([['importBundle', { file: '/work/here/x.bundle' }], synced, close]);
  });

  it('import - hands on standard input; export has no such place', async () => {
    const made = await calls(['import', '-'], { results: { importBundle: imported } });
    expect(made[0]).toMatchObject(['importBundle', { file: '-', source: expect.anything() as unknown }]);
    expect((await runStubbed(['export', '-'])).code).toBe(2);
  });

  it('a branch that was left out or rejected is a warning on stderr, in safe words', async () => {
    const rejected = [{ machine: 'qa', kind: 'wrong_key', message: 'bad \u001b[31mkey' }];
    const run = await runStubbed(['import', 'x'], { results: { importBundle: { ...imported, rejected } } });
    expect(run).toMatchObject({ code: 0, out: '1 branch moved by 1 commit, 1 message arrived for this machine.\n' });
    expect(run.err).toMatch(/^warning: the branch of qa was not accepted: bad .*key\n$/);
    expect(run.err).not.toContain('\u001b');
    const left = { ...exported, left_out: [{ machine: 'qa', message: 'x is missing' }] };
    const wrote = await runStubbed(['export', 'x.bundle'], { results: { exportBundle: left } });
    expect(wrote.err).toContain('the branch of qa is not in it: x is missing');
    expect(wrote.out).toBe('Wrote /work/here/x.bundle: 2 branches, 5 commits.\n');
  });
});

describe('what no command takes', () => {
  it('is an empty place or name: exit 2 with the option named, and nothing opened', async () => {
    for (const [argv, named] of [
      [['log', '--html', ''], '--html'],
      [['status', '--dir', ''], '--dir'],
      [['--dir', '', 'status'], '--dir'],
      [['init', '--key', ''], '--key'],
      [['init', '--remote', ' '], '--remote'],
      [['join', ''], '<url>'],
      [['join', '/srv/team.git', '--key', ''], '--key'],
      [['export', ''], '<file>'],
      [['export', 'x.bundle', '--since-last', ''], '--since-last'],
      [['import', ''], '<file>'],
      [['send', 'b', 'note', '--payload-file', ''], '--payload-file'],
      [['remote', 'add', 'x', ''], '<url>'],
      [['remote', 'remove', ''], '<name>'],
      [['reclaim', ''], '<remote>'],
    ] as const) {
      const { code, err, calls: made } = await runStubbed(argv);
      expect([argv, code, err, made]).toEqual([argv, 2, expect.stringContaining(`${named} is empty: expected a `), []]);
    }
  });

  it('is a control character, a line break or a change of direction where one line is meant', async () => {
    for (const argv of [
      ['guard', '--repo'],
      ['freeze', '--repo'],
      ['freeze', '--reason'],
      ['unfreeze', '--repo'],
      ['unfreeze', '--reason'],
      ['log', '--repo'],
      ['log', '--grep'],
      ['log', '--agent'],
      ['checkin', 'a', '--cap'],
      ['init', '--label'],
      ['trace'],
    ]) {
      for (const hostile of ['a\nb', '\u001b[2J', 'a\u202eb', 'a\u2066b', '\u009b']) {
        const { code, out, err, calls: made } = await runStubbed([...argv, hostile]);
        expect([code, made]).toEqual([2, []]);
        expect(out + err.trimEnd()).not.toMatch(/[\p{Cc}\u202e\u2066]/u);
      }
    }
    expect(await calls(['send', 'b', 'note', '--message', 'two\nlines'])).toContainEqual(close);
  });
});
