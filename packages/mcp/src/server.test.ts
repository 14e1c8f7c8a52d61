import {
  MeshError,
  silentLogger,
  type AckResult,
  type CheckinResult,
  type InboxResult,
  type MeshApi,
} from '@git-mesh/core';
import type { OpenMeshFunction } from '@git-mesh/sync';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { afterEach, describe, expect, it } from 'vitest';
import { noCompletion } from './completions.js';
import { MeshSession } from './mesh-session.js';
import { createServer } from './server.js';
import { stubSetup } from './testing/stub-setup.js';
import { stubMesh, type StubMesh } from './testing/stub-mesh.js';
import * as samples from './testing/samples.js';
import { ToolCalls } from './tool-calls.js';
import { meshTools } from './tools.js';

interface Result {
  isError?: boolean;
  structuredContent?: Record<string, unknown>;
  content: { text: string }[];
}

const started: Client[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((client) => client.close()));
});

/** The real SDK client; having listed the tools, it checks every result against its outputSchema. */
async function connect(openMesh: OpenMeshFunction, asked: unknown[] = []) {
  const warnings: string[] = [];
  const logger = { ...silentLogger, warn: (line: string) => warnings.push(line) };
  const session = new MeshSession({ dir: '/secret/store', env: {}, logger, openMesh });
  const facts = { store: '/secret/store', env: {}, hostname: 'here', setup: stubSetup(asked) };
  const calls = new ToolCalls({ ...facts, session: session.connect(), logger, now: () => samples.nowMs });
  const server = createServer({
    version: '1.2.3',
    tools: meshTools('linux'),
    callTool: (tool, call) => calls.run(tool, call),
    subscribe: () => Promise.resolve(),
    unsubscribe: () => Promise.resolve(),
    complete: () => Promise.resolve(noCompletion),
    setLevel: () => Promise.resolve(),
    logger,
  });
  const client = new Client({ name: 'test', version: '1' });
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  await Promise.all([client.connect(clientSide), server.connect(serverSide)]);
  await client.listTools();
  started.push(client);
  const call = async (name: string, args?: Record<string, unknown>): Promise<Result> =>
    (await client.callTool({ name, ...(args === undefined ? {} : { arguments: args }) })) as unknown as Result;
  return { client, call, calls, session, warnings };
}

const withMesh = (mesh: StubMesh) => connect(() => Promise.resolve(mesh));
const noMesh: OpenMeshFunction = ({ dir }) => Promise.reject(new MeshError('no_mesh', `no store at ${dir}`));

const toolNames = meshTools('linux').map(({ name }) => name);
/** What needs no mesh: its tests are beside each other below. */
const makesMesh = new Set(['agent_mesh_create', 'agent_mesh_join']);

describe('the server', () => {
  it('names itself and instructs its client', async () => {
    const { client } = await withMesh(stubMesh());
    expect(client.getServerVersion()).toMatchObject({ name: 'git-mesh', version: '1.2.3' });
    expect(client.getInstructions()).toContain('agent_checkin');
  });

  it('lists its tools in under 24,000 bytes', async () => {
    const { client } = await withMesh(stubMesh());
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(toolNames);
    expect(Buffer.byteLength(JSON.stringify(tools))).toBeLessThan(24_000);
  });

  it('hands arguments on as they came and gives the result in both forms', async () => {
    const mesh = stubMesh();
    const { call } = await withMesh(mesh);
    const args = { to: 'laptop', msg_type: 'note', payload: { n: 1e21, deep: [null, ''] }, nonsense: 1 };
    const result = await call('agent_send', args);
    expect(mesh.log.find(({ name }) => name === 'send')?.args).toEqual(args);
    expect(result.structuredContent).toEqual(samples.sendResult);
    expect(result.content).toHaveLength(1);
    expect(result.content[0]?.text).toContain('#12');
    expect(result.isError).toBeUndefined();
    await call('agents_list');
    expect(mesh.log.at(-1)?.args).toEqual({});
  });

  const forms: [string, Partial<MeshApi>, Record<string, unknown>, object][] = [
    ['agent_checkin', {}, { agent_id: 'qa', confirm: true }, samples.checkinDone],
    ...[samples.checkinBare, { preview: true, record: samples.bareRecord, next: 'x' } satisfies CheckinResult].map(
      (result): [string, Partial<MeshApi>, Record<string, unknown>, object] => [
        'agent_checkin',
        { checkin: () => Promise.resolve(result) },
        { agent_id: 'qa' },
        result,
      ],
    ),
    ['agents_list', {}, {}, samples.agentsResult],
    ['agent_send', {}, { to: 'laptop', msg_type: 'note' }, samples.sendResult],
    ['agent_inbox', {}, { agent_id: 'qa' }, samples.inboxResult],
    ...[
      { preview: true, would_ack: [1], already_acked: [2], unknown: [3], next: 'x' } satisfies AckResult,
      { preview: false, acked: [1], already_acked: [], unknown: [] } satisfies AckResult,
    ].map((result): [string, Partial<MeshApi>, Record<string, unknown>, object] => [
      'agent_ack',
      { ack: () => Promise.resolve(result) },
      { agent_id: 'qa', message_ids: [1] },
      result,
    ]),
    ['agent_sent', {}, {}, samples.sentResult],
    ['agent_checkout', {}, { agent_id: 'qa' }, { preview: false, agent_id: 'qa', machine: 'laptop' }],
    ['agent_mesh_status', {}, {}, samples.statusResult],
    [
      'agent_mesh_admit',
      {},
      { machine: 'laptop' },
      { preview: false, machine: 'laptop', key: 'SHA256:x', already: false },
    ],
    [
      'agent_mesh_admit',
      {
        admit: () =>
          Promise.resolve({ preview: true, machine: samples.laptop, key: 'SHA256:x', already: false, next: 'n' }),
      },
      { machine: 'laptop' },
      { preview: true, machine: 'laptop', key: 'SHA256:x', already: false, next: 'n' },
    ],
    [
      'agent_mesh_revoke',
      {},
      { machine: 'laptop' },
      {
        preview: false,
        machine: 'laptop',
        key: 'SHA256:x',
        through: { seq: 41, commit: samples.commit },
        binds: 'here',
      },
    ],
    ['agent_mesh_leave', {}, {}, { preview: false, machine: 'laptop', agents: ['qa'] }],
    [
      'agent_mesh_invite',
      {},
      {},
      {
        preview: false,
        machine: 'laptop',
        key: 'SHA256:x',
        mesh: samples.meshOf,
        code: 'mesh1.x',
        expires_at: samples.laterAt,
      },
    ],
    [
      'agent_mesh_status',
      { status: () => Promise.resolve({ ...samples.statusResult, worker: null, remotes: [], problems: [] }) },
      {},
      { ...samples.statusResult, worker: null, remotes: [], problems: [] },
    ],
  ];
  it.each(forms)('%s gives results that its outputSchema allows', async (name, answers, args, want) => {
    const { call } = await withMesh(stubMesh(answers));
    // The client throws where the schema does not hold.
    expect((await call(name, args)).structuredContent).toEqual(want);
  });

  it('has output schemas that a wrong result fails', async () => {
    const wrong = { ...samples.inboxResult, messages: [{ ...samples.message, message_id: 'eleven' }] };
    const { call } = await withMesh(stubMesh({ inbox: () => Promise.resolve(wrong as unknown as InboxResult) }));
    await expect(call('agent_inbox', { agent_id: 'qa' })).rejects.toThrow(/message_id must be integer/);
  });

  it.each(toolNames)('%s turns what the caller can mend into a result with its facts', async (name) => {
    const error = new MeshError('agent_not_alive', 'no agent "x" on laptop; try qa', {
      data: { alive_agents: ['qa', 'dev'] },
    });
    const { call } = await connect(() => Promise.reject(error));
    const result = await call(name, {});
    expect(result.isError).toBe(true);
    expect(result.structuredContent).toEqual({
      error: { code: 404, name: 'agent_not_alive', message: error.message, alive_agents: ['qa', 'dev'] },
    });
    expect(result.content[0]?.text).toBe(
      'Error 404 agent_not_alive: no agent "x" on laptop; try qa\nDetails: {"alive_agents":["qa","dev"]}',
    );
  });

  it('tells nothing of a bug but where to look, and logs its stack', async () => {
    const bug = new TypeError('cannot read /secret/path of undefined');
    const { call, warnings } = await withMesh(stubMesh({ sent: () => Promise.reject(bug) }));
    const result = await call('agent_sent');
    expect(result.isError).toBe(true);
    expect(result.structuredContent).toMatchObject({ error: { code: 500, name: 'internal' } });
    expect(JSON.stringify(result)).not.toMatch(/secret|TypeError|\.ts/);
    expect(JSON.stringify(result)).toContain('server log');
    expect(warnings.join()).toContain('server.test.ts');
  });

  it('answers an unknown tool with a protocol error that lists the known ones, and opens nothing for it', async () => {
    const mesh = stubMesh();
    const { call } = await withMesh(mesh);
    await expect(call('agent_fly')).rejects.toThrow(/unknown tool "agent_fly".*agents_list/);
    await expect(call(`mesh1.eyJ${'2'.repeat(60)}`)).rejects.toThrow('unknown tool "mesh1.***"');
    expect(mesh.log).toEqual([]);
  });

  it('refuses arguments for agent_mesh_status, with a mesh and without', async () => {
    for (const { call } of [await withMesh(stubMesh()), await connect(noMesh)]) {
      const result = await call('agent_mesh_status', { verbose: true });
      expect(result.structuredContent).toMatchObject({ error: { code: 400, name: 'unknown_argument' } });
    }
  });
});

describe('the mesh behind the server', () => {
  it('is opened by the first tool call of any kind, once, and its worker started', async () => {
    const mesh = stubMesh({ ack: () => Promise.reject(new MeshError('invalid_argument', 'no')) });
    let opened = 0;
    const { call, client } = await connect(() => {
      opened += 1;
      return Promise.resolve(mesh);
    });
    await client.ping();
    expect(opened).toBe(0);
    expect((await call('agent_ack', {})).isError).toBe(true);
    await Promise.all([call('agents_list'), call('agent_sent')]);
    expect(opened).toBe(1);
    expect(mesh.log.map(({ name }) => name)).toEqual(['startWorker', 'ack', 'agents', 'sent']);
    expect(
      mesh.log.every(
        ({ call: options }) => options === undefined || options.connection === mesh.newConnection({ resident: true }),
      ),
    ).toBe(true);
  });

  it.each(toolNames.filter((name) => !makesMesh.has(name)))(
    'is asked for by %s where there is none, without naming a path',
    async (name) => {
      const { call } = await connect(noMesh);
      const result = await call(name, {});
      const text = result.content[0]?.text ?? '';
      for (const command of ['git-mesh init --remote URL', 'git-mesh join URL']) expect(text).toContain(command);
      if (name === 'agent_mesh_status') {
        expect(result.isError).toBeUndefined();
        expect(result.structuredContent).toMatchObject({ mesh: null, store: '/secret/store' });
      } else {
        expect(result.isError).toBe(true);
        expect(result.structuredContent).toMatchObject({ error: { code: 404, name: 'no_mesh' } });
        expect(JSON.stringify(result)).not.toContain('/secret');
      }
    },
  );

  it.each([
    ['agent_mesh_create', { remote: 'https://me:secret@git.example/team.git', policy: 'roster' }, 'made'],
    ['agent_mesh_join', { url: 'https://me:secret@git.example/team.git' }, 'joined'],
  ])('is made by %s only with confirm: true, and no credential is shown', async (name, args, did) => {
    const asked: unknown[] = [];
    const mesh = stubMesh();
    const { call } = await connect((options) => (asked.length > 0 ? Promise.resolve(mesh) : noMesh(options)), asked);
    const preview = await call(name, args);
    expect(preview.structuredContent).toMatchObject({ preview: true, remote: 'https://***@git.example/team.git' });
    expect(preview.content[0]?.text).toContain('PREVIEW: nothing was changed.');
    expect([JSON.stringify(preview).includes('secret'), asked, mesh.log]).toEqual([false, [], []]);
    // What is for good is named before it is made.
    expect(preview.structuredContent).toMatchObject({ machine: 'here' });
    expect(preview.content[0]?.text).toMatch(/It would be called here \(.*\), for good/);
    if (did === 'made') expect(preview.content[0]?.text).toContain('The policy is roster, for good');
    const wrong = await call(name, { ...args, machine: 'No Handle' });
    expect(wrong.structuredContent).toMatchObject({ error: { code: 400, name: 'invalid_argument' } });
    const done = await call(name, { ...args, machine: 'laptop', confirm: true });
    expect(done.structuredContent).toMatchObject({ preview: false, machine: 'laptop', mesh: { name: 'team' } });
    expect(done.content[0]?.text).toContain(`${did} the mesh "team" as laptop`);
    expect(asked).toMatchObject([{ dir: '/secret/store', hostname: 'here', machine: 'laptop' }]);
    // The first call of any kind that finds a mesh starts its worker.
    expect(mesh.log.map((entry) => entry.name)).toEqual(['startWorker']);
  });

  it('is not made or joined twice, nor at a place that depends on a folder', async () => {
    const { call } = await withMesh(stubMesh());
    for (const [name, args] of [
      ['agent_mesh_create', {}],
      ['agent_mesh_join', { url: '/srv/team.git' }],
    ] as const) {
      expect((await call(name, args)).structuredContent).toMatchObject({ error: { code: 409, name: 'mesh_exists' } });
    }
    for (const url of ['team.git', './team.git', '../team.git']) {
      const refused = await call('agent_mesh_join', { url });
      expect(refused.structuredContent, url).toMatchObject({ error: { code: 400, name: 'invalid_argument' } });
    }
    expect((await call('agent_mesh_join', {})).structuredContent).toMatchObject({ error: { code: 400 } });
    expect((await call('agent_mesh_create', { policy: 'closed' })).structuredContent).toMatchObject({
      error: { code: 400 },
    });
  });

  it('is found by a later call when it was made in the meantime', async () => {
    const mesh = stubMesh();
    let made = false;
    const { call } = await connect((options) => (made ? Promise.resolve(mesh) : noMesh(options)));
    expect((await call('agents_list')).isError).toBe(true);
    made = true;
    expect((await call('agents_list')).structuredContent).toEqual(samples.agentsResult);
  });

  it('is closed even when it was still being opened, and is not opened again', async () => {
    const mesh = stubMesh();
    let finish: (() => void) | undefined;
    const { call, session } = await connect(
      () =>
        new Promise((resolve) => {
          finish = () => {
            resolve(mesh);
          };
        }),
    );
    const pending = call('agents_list');
    await expect.poll(() => finish).toBeDefined();
    const closing = session.close();
    finish?.();
    await Promise.all([pending, closing]);
    expect(mesh.log.map(({ name }) => name)).toContain('close');
    expect((await call('agents_list')).structuredContent).toMatchObject({ error: { name: 'cancelled' } });
  });
});

describe('a wait', () => {
  const waiting = () => {
    const seen: { signal?: AbortSignal | undefined; progress?: ((seconds: number) => void) | undefined } = {};
    const mesh = stubMesh({
      inbox: (_args, { signal, onProgress }) => {
        Object.assign(seen, { signal, progress: onProgress });
        return new Promise((resolve) => {
          signal?.addEventListener('abort', () => {
            resolve({ ...samples.inboxResult, messages: [], remaining: 0 });
          });
        });
      },
    });
    return { mesh, seen };
  };

  it('ends when the client cancels it', async () => {
    const { mesh, seen } = waiting();
    const { client } = await withMesh(mesh);
    const cancel = new AbortController();
    const call = client.callTool({ name: 'agent_inbox', arguments: {} }, undefined, { signal: cancel.signal });
    await expect.poll(() => seen.signal).toBeDefined();
    cancel.abort('enough');
    await expect(call).rejects.toThrow();
    await expect.poll(() => seen.signal?.aborted).toBe(true);
  });

  it('ends with a result when the server ends its calls', async () => {
    const { mesh, seen } = waiting();
    const { call, calls } = await withMesh(mesh);
    const pending = call('agent_inbox', {});
    await expect.poll(() => seen.signal).toBeDefined();
    await calls.end();
    expect((await pending).structuredContent).toMatchObject({ messages: [] });
  });

  it('reports progress that grows, and only to a client that asked', async () => {
    const { mesh, seen } = waiting();
    const { client, call, calls } = await withMesh(mesh);
    const heard: number[] = [];
    const asked = client.callTool({ name: 'agent_inbox', arguments: {} }, undefined, {
      onprogress: ({ progress }) => heard.push(progress),
    });
    await expect.poll(() => seen.progress).toBeDefined();
    for (const seconds of [5, 5, 10]) seen.progress?.(seconds);
    await expect.poll(() => heard).toEqual([5, 10]);
    await calls.end();
    await asked;

    seen.signal = undefined;
    const unasked = call('agent_inbox', {});
    await expect.poll(() => seen.signal).toBeDefined();
    expect(seen.progress).toBeUndefined();
    await calls.end();
    await unasked;
  });
});
