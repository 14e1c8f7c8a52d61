import { expect, test } from 'vitest';
import { type Machine, mesh } from '../machines.js';
import { stockGit, writeBranch } from '../stock-git.js';

const ulid = (n: number): string => `01KBEST0000000000000000${String(n).padStart(3, '0')}`;

function note(id: string, from: string, to: string, text = id): string {
  return [
    `id: ${id}`,
    'type: note',
    'from:',
    `  machine: ${from}`,
    '  agent: x',
    'to:',
    `  machine: ${to}`,
    'sent_at: "2026-12-02T00:00:00.000Z"',
    'expires_at: "2036-12-02T00:00:00.000Z"',
    'payload:',
    `  message: ${text}`,
    '',
  ].join('\n');
}

const folder = 'messages/laptop/2026-12-02/0000';
const message = (
  n: number,
  body: string | Buffer,
  mode?: string,
): { path: string; body: string | Buffer; mode?: string } => ({
  path: `${folder}/${ulid(n)}.yaml`,
  body,
  ...(mode === undefined ? {} : { mode }),
});

const laughs = ['a: &a [x,x,x,x,x,x,x,x,x]'];
for (const [index, key] of 'bcdefghi'.split('').entries()) {
  laughs.push(
    `${key}: &${key} [${Array(9)
      .fill(`*${'abcdefgh'[index] ?? ''}`)
      .join(',')}]`,
  );
}

const bad: { what: string; path: string; body: string | Buffer; mode?: string }[] = [
  { what: 'no YAML', ...message(1, '[[[[[[') },
  { what: 'no text', ...message(2, Buffer.from([0, 1, 0xff, 0xfe])) },
  { what: 'aliases that multiply', ...message(3, laughs.join('\n')) },
  { what: 'another machine as sender', ...message(4, note(ulid(4), 'studio', 'laptop')) },
  { what: 'another id than its path', ...message(5, note(ulid(55), 'rogue', 'laptop')) },
  { what: 'another addressee than its path', ...message(6, note(ulid(6), 'rogue', 'studio')) },
  { what: 'a symbolic link', ...message(7, '/etc/passwd', '120000') },
  { what: 'far too long', ...message(8, `x: "${'y'.repeat(3_000_000)}"\n`) },
  { what: 'a merge conflict', ...message(9, '<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> x\n') },
  { what: 'one key twice', ...message(10, `${note(ulid(10), 'rogue', 'laptop')}type: ping\n`) },
  { what: 'an unknown type', ...message(11, note(ulid(11), 'rogue', 'laptop').replace('type: note', 'type: boo')) },
  { what: 'an empty file', ...message(12, '') },
  { what: 'no ULID as a name', path: `${folder}/${'x'.repeat(200)}.yaml`, body: 'a: b' },
  { what: 'a presence record of another name', path: 'presence/other.yaml', body: 'agent: someone\n' },
  { what: 'a dangerous name', path: 'presence/__proto__.yaml', body: '__proto__: {polluted: true}\n' },
  { what: 'a broken acknowledgement', path: `acks/studio/${ulid(13)}.yaml`, body: '[[[[' },
  { what: 'a broken receipt', path: 'receipts/studio.yaml', body: 'delivered_through: soon\n' },
];

async function payloads(machine: Machine, agent: string): Promise<unknown[]> {
  return (await machine.json(['inbox', agent])).messages.map((entry) => entry.payload['message']);
}

test('bad files on a branch are skipped and named by doctor, and hide nothing, there or elsewhere', async () => {
  const { machines, remote } = await mesh(['studio', 'laptop', 'rogue']);
  const [studio, laptop, rogue] = machines;
  await studio.json(['checkin', 'boss']);
  await laptop.json(['checkin', 'qa']);
  await rogue.json(['checkin', 'dev']);
  await rogue.json(['send', 'laptop', 'note', '--from', 'dev', '--message', 'before']);
  await rogue.json(['sync']);
  const good = message(99, note(ulid(99), 'rogue', 'laptop', 'good'));
  writeBranch(remote, 'refs/heads/mesh/rogue', [...bad, good], { signedBy: rogue.store });
  await studio.json(['send', 'laptop', 'note', '--from', 'boss', '--message', 'still here']);
  await studio.json(['sync']);
  expect(await laptop.json(['sync'])).toMatchObject({ state: 'ok' });
  expect((await payloads(laptop, 'qa')).sort()).toEqual(['before', 'good', 'still here']);

  const ended = await laptop.run(['doctor', '--json']);
  expect(ended.code).toBe(1);
  const { problems } = JSON.parse(ended.stdout) as Awaited<ReturnType<typeof laptop.json<'doctor'>>>;
  const named = ({ path }: { path: string }): boolean =>
    // A name too long to print is cut.
    problems.some((problem) => problem.machine === 'rogue' && JSON.stringify(problem).includes(path.slice(0, 80)));
  const unnamed = bad.filter((file) => !named(file)).map(({ what, path }) => `${what}: ${path}`);
  expect(unnamed, 'bad files that doctor does not name').toEqual([]);
  expect(JSON.stringify(problems)).not.toContain(`${folder}/${ulid(99)}`);
  expect((await laptop.json(['agents'])).agents.map((agent) => agent.agent_id).sort()).toEqual(['boss', 'dev', 'qa']);
  expect(await laptop.json(['status'])).toMatchObject({ machine: 'laptop' });
  laptop.git(['fsck', '--strict']);
});

test('a branch that is no machine’s, or has a merge or another root, is left where it was and named', async () => {
  const { machines, remote } = await mesh(['studio', 'laptop']);
  const [studio, laptop] = machines;
  await studio.json(['checkin', 'boss']);
  await laptop.json(['checkin', 'qa']);
  await studio.json(['sync']);
  await laptop.json(['sync']);
  const accepted = laptop.git(['rev-parse', 'refs/heads/mesh/studio']);
  const orphan = stockGit(['commit-tree', stockGit(['mktree'], { cwd: remote }), '-m', 'other root'], { cwd: remote });
  const tree = stockGit(['rev-parse', `${accepted}^{tree}`], { cwd: remote });
  const merge = stockGit(['commit-tree', tree, '-p', accepted, '-p', orphan, '-m', 'merge'], { cwd: remote });
  for (const tip of [orphan, merge]) {
    stockGit(['update-ref', 'refs/heads/mesh/studio', tip], { cwd: remote });
    await laptop.run(['sync']);
    expect(laptop.git(['rev-parse', 'refs/heads/mesh/studio'])).toBe(accepted);
    const doctor = await laptop.run(['doctor', '--json']);
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toContain('studio');
  }
  writeBranch(remote, 'refs/heads/mesh/nobody', [{ path: 'notes.txt', body: 'hello' }]);
  await laptop.run(['sync']);
  expect((await laptop.run(['doctor', '--json'])).stdout).toContain('nobody');
  expect((await laptop.json(['agents'])).machines.map((machine) => machine.handle)).not.toContain('nobody');
});
