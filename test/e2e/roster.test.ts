import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Machine } from '../machines.js';
import { scratch } from '../scratch.js';
import { bareRemote, stockGit } from '../stock-git.js';

/** The commits of every branch of a store that stock git does not accept by the keys that the machine prints. */
async function unproven(machine: Machine): Promise<{ commits: number; bad: string[] }> {
  const file = join(machine.root, 'allowed_signers');
  writeFileSync(file, (await machine.run(['keys', '--allowed-signers'])).stdout);
  const commits = machine.git(['rev-list', '--branches']).split('\n');
  const bad = commits.filter((commit) => {
    try {
      stockGit(['--git-dir', machine.store, '-c', `gpg.ssh.allowedSignersFile=${file}`, 'verify-commit', commit]);
      return false;
    } catch {
      return true;
    }
  });
  return { commits: commits.length, bad };
}

const inbox = async (machine: Machine, agent: string): Promise<unknown[]> =>
  (await machine.json(['inbox', agent])).messages.map(({ payload }) => payload['message']);

test('under the policy roster a machine counts from its admission to its revocation', async () => {
  const root = scratch();
  const remote = bareRemote(root);
  const [studio, laptop] = [new Machine(root, 'studio'), new Machine(root, 'laptop')];
  await studio.json(['init', '--remote', remote, '--machine', 'studio', '--policy', 'roster']);
  const joined = await laptop.json(['join', remote, '--machine', 'laptop']);
  const fingerprint = /git mesh admit laptop\. .*(SHA256:\S+)$/.exec(joined.warning ?? '')?.[1] ?? '';
  await studio.json(['checkin', 'boss']);
  await laptop.json(['checkin', 'dev']);

  const waiting = await laptop.json(['send', 'studio', 'note', '--from', 'dev', '--message', 'while it waits']);
  expect(waiting.warning).toContain('waits to be admitted');
  expect(await inbox(studio, 'boss')).toEqual([]);
  const { problems } = await studio.json(['status']);
  expect(problems).toMatchObject([{ kind: 'not_admitted', machine: 'laptop' }]);
  expect(problems[0]?.message).toContain(fingerprint);

  expect(await studio.json(['admit', 'laptop', '--key', fingerprint])).toMatchObject({ key: fingerprint });
  expect(await inbox(studio, 'boss')).toEqual(['while it waits']);
  await studio.json(['send', 'laptop', 'note', '--from', 'boss', '--message', 'welcome']);
  expect(await inbox(laptop, 'dev')).toEqual(['welcome']);

  const revoked = await studio.json(['revoke', 'laptop']);
  expect(revoked).toMatchObject({ preview: false, machine: 'laptop', binds: 'everywhere' });
  await laptop.json(['send', 'studio', 'note', '--message', 'too late']);
  expect(await inbox(studio, 'boss')).toEqual(['while it waits']);
  const { agents, machines } = await studio.json(['agents']);
  expect([agents.map(({ machine }) => machine), machines.map(({ handle }) => handle)]).toEqual([
    ['studio'],
    ['studio'],
  ]);

  const { commits, bad } = await unproven(studio);
  expect(bad).toEqual([]);
  expect(commits).toBeGreaterThan(8);
  const subjects = studio.git(['log', '--format=%s', 'mesh/studio']).split('\n');
  expect(subjects).toContain(`roster revoke laptop through ${revoked.through.seq}`);
}, 180_000);
