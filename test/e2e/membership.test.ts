import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { failingStep } from '../faults/failing-step.js';
import { Machine, mesh } from '../machines.js';
import { scratch } from '../scratch.js';
import { bareRemote, stockGit, writeBranch } from '../stock-git.js';

test('where no mesh is, commands exit with 10 and tools say how to make or join one', async () => {
  const machine = new Machine(scratch(), 'alone');
  const commands = [['status'], ['checkin', 'boss'], ['inbox', 'boss'], ['send', 'x', 'note'], ['sync']] as const;
  for (const args of commands) {
    const error = await machine.refused(args);
    expect([error.exitCode, error.name], args.join(' ')).toEqual([10, 'no_mesh']);
    expect(error.message).toMatch(/init/);
    expect(error.message).toMatch(/join/);
  }
  const session = await machine.mcp();
  const { tools } = await session.client.listTools();
  expect(tools.map((tool) => tool.name)).toContain('agent_mesh_status');
  const error = await session.refused('agent_checkin', { agent_id: 'boss', confirm: true });
  expect(error.name).toBe('no_mesh');
  expect(error.text).toMatch(/agent_mesh_create[\s\S]*init[\s\S]*agent_mesh_join[\s\S]*join/);
});

test('a server that started without a mesh uses the one that is made later', async () => {
  const machine = new Machine(scratch(), 'late');
  const session = await machine.mcp();
  expect(await session.refused('agents_list')).toMatchObject({ name: 'no_mesh' });
  await machine.json(['init', '--machine', 'late']);
  expect(await session.checkin('boss')).toMatchObject({ agent_id: 'boss', machine: 'late' });
});

test('init makes a mesh that stock git can read, without touching other branches', async () => {
  const root = scratch();
  const remote = bareRemote(root);
  stockGit(['init', '-q', '-b', 'main', join(root, 'source')]);
  stockGit(['commit', '-q', '--allow-empty', '-m', 'code'], { cwd: join(root, 'source') });
  stockGit(['push', '-q', remote, 'main'], { cwd: join(root, 'source') });
  const code = stockGit(['rev-parse', 'main'], { cwd: remote });
  const studio = new Machine(root, 'studio');
  const made = await studio.json(['init', '--remote', remote, '--machine', 'studio']);
  expect(made).toMatchObject({ machine: 'studio', store: studio.store, writable: true });
  const charter = stockGit(['ls-tree', '--name-only', 'refs/heads/mesh/_charter'], { cwd: remote }).split('\n');
  expect(charter).toEqual(expect.arrayContaining(['README.md', 'mesh.yaml']));
  expect(stockGit(['show', 'refs/heads/mesh/studio:machine.yaml'], { cwd: remote })).toContain(made.mesh.id);
  expect(stockGit(['rev-parse', 'main'], { cwd: remote })).toBe(code);
  expect(studio.git(['rev-parse', '--is-bare-repository'])).toBe('true');
});

test('init on an empty remote gives a plain clone something to show', async () => {
  const { remote, root } = await mesh(['studio']);
  stockGit(['clone', '-q', remote, join(root, 'clone')]);
  expect(stockGit(['ls-files'], { cwd: join(root, 'clone') }).split('\n')).toContain('README.md');
});

test('init where a mesh already is points to join', async () => {
  const { remote, root } = await mesh(['studio']);
  const error = await new Machine(root, 'laptop').refused(['init', '--remote', remote, '--machine', 'laptop']);
  expect([error.exitCode, error.code, error.name]).toEqual([4, 409, 'mesh_exists']);
  expect(error.message).toMatch(/join/);
});

/** Holds a push back until another one has come: what was pushed by two at once was decided without seeing the other's. */
function meetingPoint(remote: string): void {
  const hook = join(remote, 'hooks', 'pre-receive');
  const script = [
    '#!/bin/sh',
    'cat >/dev/null',
    ': >"$GIT_DIR/pushing.$$"',
    'tries=0',
    'while [ "$(ls "$GIT_DIR" | grep -c "^pushing")" -lt 2 ] && [ $tries -lt 200 ]; do sleep 0.1; tries=$((tries + 1)); done',
  ].join('\n');
  mkdirSync(join(remote, 'hooks'), { recursive: true });
  writeFileSync(hook, `${script}\n`, { mode: 0o755 });
}

test('two machines that init one empty remote at once end up in one mesh', async () => {
  const root = scratch();
  const remote = bareRemote(root);
  // Else one of them may find the mesh that the other has made already, which is another case.
  if (process.platform !== 'win32') meetingPoint(remote);
  const machines = ['studio', 'laptop'].map((handle) => new Machine(root, handle));
  const made = await Promise.all(
    machines.map((machine) => machine.json(['init', '--remote', remote, '--machine', machine.handle])),
  );
  expect(new Set(made.map((result) => result.mesh.id)).size).toBe(1);
  const list = await machines[0]!.json(['sync']).then(() => machines[0]!.json(['agents']));
  expect(list.machines.map((machine) => machine.handle).sort()).toEqual(['laptop', 'studio']);
});

test('a handle that exists is not given twice', async () => {
  const { remote, root } = await mesh(['studio']);
  const error = await new Machine(join(root, 'other'), 'copy').refused(['join', remote, '--machine', 'studio']);
  expect([error.exitCode, error.code, error.name]).toEqual([4, 409, 'handle_taken']);
  expect(error.message).toContain('studio');
});

test('the same init again is content, another one is told what this store is', async () => {
  const { machines, remote } = await mesh(['studio']);
  const again = await machines[0].json(['init', '--remote', remote, '--machine', 'studio']);
  expect(again).toMatchObject({ machine: 'studio', writable: true });
  const other = await machines[0].refused(['init', '--remote', remote, '--machine', 'tower']);
  expect([other.exitCode, other.name]).toEqual([4, 'mesh_exists']);
  expect(other.message).toMatch(/this machine is studio in the mesh hub/);
});

test('join of a member says as whom it is one', async () => {
  const { machines, remote } = await mesh(['studio', 'laptop']);
  const error = await machines[1].refused(['join', remote, '--machine', 'laptop']);
  expect(error).toMatchObject({ exitCode: 4, code: 409, name: 'mesh_exists', machine: 'laptop' });
  expect(error.message).toMatch(/this machine is laptop .*nothing is left to do/);
});

test('another machine’s store is no remote, and nothing is made from it', async () => {
  const { machines, root } = await mesh(['studio', 'laptop']);
  const tower = new Machine(root, 'tower');
  for (const { store } of machines) {
    const error = await tower.refused(['join', store, '--machine', 'tower']);
    expect(error).toMatchObject({ exitCode: 5, name: 'not_a_repository' });
    expect(error.message).toMatch(/store of a git-mesh machine.*plain bare one/);
  }
  expect(existsSync(tower.store)).toBe(false);
});

test('a store in its remote, or in a folder with other things, is refused', async () => {
  const { machines, remote, root } = await mesh(['studio']);
  const tower = new Machine(root, 'tower');
  const inside = await tower.refused(['join', remote, '--machine', 'tower', '--dir', join(remote, 'store')]);
  expect(inside).toMatchObject({ exitCode: 2, code: 400 });
  expect(existsSync(join(remote, 'store'))).toBe(false);
  const full = await tower.refused(['join', remote, '--machine', 'tower', '--dir', machines[0].root]);
  expect(full).toMatchObject({ exitCode: 5, name: 'store_unusable' });
  expect(existsSync(join(machines[0].root, 'mesh'))).toBe(false);
});

test('a machine that may only read is told so in words and in JSON', async () => {
  const { remote, root } = await mesh(['studio']);
  const hook = join(remote, 'hooks', 'pre-receive');
  mkdirSync(join(remote, 'hooks'), { recursive: true });
  writeFileSync(hook, '#!/bin/sh\necho "readers only" >&2\nexit 1\n');
  chmodSync(hook, 0o755);
  const words = await new Machine(root, 'reader').run(['join', remote, '--machine', 'reader']);
  expect([words.code, words.stdout]).toEqual([0, expect.stringMatching(/Joined .* as reader, reading only\./)]);
  expect(words.stderr).toMatch(/readers only.*No other machine sees it.*reader is not reserved.*git mesh sync/);
  const json = await new Machine(root, 'other').json(['join', remote, '--machine', 'other']);
  expect(json).toMatchObject({ writable: false, warning: expect.stringMatching(/other is not reserved/) as string });
});

test('what a killed join left is removed by a worker and by the next join, and that of a live one is not', async () => {
  const { machines, remote, root } = await mesh(['studio']);
  const laptop = new Machine(root, 'laptop');
  const killed = await laptop.run(['join', remote, '--machine', 'laptop'], {
    env: failingStep(root, { how: 'kill', at: 40 }),
  });
  expect(killed.signal).toBe('SIGKILL');
  const drafts = (machine: Machine): string[] => readdirSync(machine.root).filter((name) => name.includes('.tmp-'));
  const [draft = ''] = drafts(laptop);
  expect(draft).not.toBe('');
  cpSync(join(laptop.root, draft), join(machines[0].root, draft), { recursive: true });
  await laptop.json(['join', remote, '--machine', 'laptop']);
  expect(drafts(laptop)).toEqual([]);
  await machines[0].json(['sync']);
  expect(drafts(machines[0])).toEqual([]);
});

test('join where no mesh is, or nothing at all, says which', async () => {
  const root = scratch();
  const laptop = new Machine(root, 'laptop');
  const empty = await laptop.refused(['join', bareRemote(root), '--machine', 'laptop']);
  expect([empty.exitCode, empty.code]).toEqual([3, 404]);
  expect(empty.message).toMatch(/init/);
  const missing = await laptop.refused(['join', join(root, 'nowhere.git'), '--machine', 'laptop']);
  expect(missing).toMatchObject({ exitCode: 5, code: 503, name: 'remote_not_found' });
  // Nothing is left behind that would be in the way of the next attempt.
  expect(await laptop.json(['init', '--machine', 'laptop'])).toMatchObject({ machine: 'laptop' });
});

test('a remote that could be taken for an option or runs a program is refused', async () => {
  const root = scratch();
  const laptop = new Machine(root, 'laptop');
  for (const url of ['ext::sh -c "touch pwned"', 'fd::17', '--upload-pack=touch pwned']) {
    const error = await laptop.refused(['join', '--machine', 'laptop', '--', url]);
    expect(error.exitCode, `${url}: ${error.message}`).toBe(2);
  }
});

test('a mesh of a newer format is refused by name, and told apart from a broken one', async () => {
  const { machines, remote, root } = await mesh(['studio']);
  const charter = stockGit(['show', 'refs/heads/mesh/_charter:mesh.yaml'], { cwd: remote });
  expect(charter).toMatch(/^format: 1$/m);
  writeBranch(remote, 'refs/heads/mesh/_charter', [
    { path: 'mesh.yaml', body: `${charter.replace(/^format: 1$/m, 'format: 2')}\nnovelty: true\n` },
  ]);
  const error = await new Machine(root, 'laptop').refused(['join', remote, '--machine', 'laptop']);
  expect(error).toMatchObject({ exitCode: 5, code: 503, name: 'format_too_new' });
  expect(error.message).toMatch(/update git-mesh/i);
  // The machine that is in it keeps what it has and says what is wrong.
  const ended = await machines[0].run(['sync', '--json']);
  expect(ended.stdout + ended.stderr + (await machines[0].run(['doctor', '--json'])).stdout).toMatch(
    /update git-mesh/i,
  );
});

test('a machine with a newer format does not take the others with it', async () => {
  const { machines, remote } = await mesh(['studio', 'laptop', 'tower']);
  const [studio, laptop, tower] = machines;
  await studio.json(['checkin', 'boss']);
  await laptop.json(['checkin', 'qa']);
  await studio.json(['sync']);
  const record = stockGit(['show', 'refs/heads/mesh/tower:machine.yaml'], { cwd: remote });
  const newer = { path: 'machine.yaml', body: record.replace(/^format: 1$/m, 'format: 2') };
  writeBranch(remote, 'refs/heads/mesh/tower', [newer], { signedBy: tower.store });
  await studio.json(['send', 'laptop', 'note', '--from', 'boss', '--message', 'still here']);
  await studio.json(['sync']);
  await laptop.json(['sync']);
  expect((await laptop.json(['inbox', 'qa'])).messages.map((message) => message.payload)).toEqual([
    { message: 'still here' },
  ]);
  const doctor = await laptop.run(['doctor', '--json']);
  expect(doctor.code).toBe(1);
  expect(doctor.stdout).toContain(tower.handle);
});

test('agents make and join a mesh with their tools, after a preview that makes nothing', async () => {
  const root = scratch();
  const remote = bareRemote(root);
  const studio = new Machine(root, 'studio');
  const laptop = new Machine(root, 'laptop');
  const founder = await studio.mcp();
  expect(await founder.call('agent_mesh_create', { remote, machine: 'studio' })).toMatchObject({
    preview: true,
    remote,
  });
  expect([existsSync(studio.store), stockGit(['for-each-ref'], { cwd: remote })]).toEqual([false, '']);
  const made = await founder.call('agent_mesh_create', { remote, machine: 'studio', confirm: true });
  expect(made).toMatchObject({ preview: false, machine: 'studio', writable: true });
  const joiner = await laptop.mcp();
  const joined = await joiner.call('agent_mesh_join', { url: remote, machine: 'laptop', confirm: true });
  expect(joined).toMatchObject({ preview: false, machine: 'laptop', mesh: made.mesh });
  await founder.checkin('boss');
  await joiner.checkin('qa');
  await joiner.call('agent_send', { to: 'studio', msg_type: 'note', payload: { message: 'made by tools' } });
  const inbox = await founder.call('agent_inbox', { agent_id: 'boss', wait_seconds: 20 });
  expect(inbox.messages.map(({ payload }) => payload)).toEqual([{ message: 'made by tools' }]);
});
