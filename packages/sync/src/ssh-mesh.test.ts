import { existsSync, writeFileSync } from 'node:fs';
import { silentLogger } from '@git-mesh/core';
import type { MembershipResult } from '@git-mesh/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OpenMesh } from './contract.js';
import { initMesh } from './init.js';
import { joinMesh } from './join.js';
import { openMesh } from './open.js';
import { GitFixture } from './testing/git-fixture.js';
import { noSshd, Sshd } from './testing/sshd.js';

const logger = silentLogger;

describe.skipIf(noSshd !== null)('a mesh over ssh', () => {
  let fixture: GitFixture;
  let sshd: Sshd;
  let env: Record<string, string>;
  const open: OpenMesh[] = [];

  beforeAll(async () => {
    fixture = new GitFixture();
    sshd = await Sshd.start(fixture.path('sshd'));
    env = { ...fixture.env, GIT_SSH_COMMAND: sshd.command() };
  });
  afterAll(async () => {
    for (const mesh of open) await mesh.close();
    await sshd.stop();
    fixture.remove();
  });

  const join = (url: string, machine: string): Promise<MembershipResult> =>
    joinMesh({ url, machine, hostname: machine, dir: fixture.path(machine), env, logger });
  const opened = async (machine: string): Promise<OpenMesh> => {
    const mesh = await openMesh({ dir: fixture.path(machine), env, logger });
    open.push(mesh);
    return mesh;
  };

  it('carries a message and its acknowledgement between two stores, and finds its way back after a failure', async () => {
    const remote = fixture.bare('hub with space.git');
    const options = { machine: 'studio', hostname: 'studio', dir: fixture.path('studio'), env, logger };
    const made = await initMesh({ ...options, remote: sshd.url(remote) });
    expect(made).toMatchObject({ machine: 'studio', writable: true });
    expect(await join(`mesh-host:${remote}`, 'laptop')).toMatchObject({ machine: 'laptop', writable: true });

    const [studio, laptop] = [await opened('studio'), await opened('laptop')];
    const [here, there] = [studio, laptop].map((mesh) => ({ connection: mesh.newConnection({ resident: false }) }));
    if (here === undefined || there === undefined) throw new Error('two meshes give two connections');
    await laptop.api.checkin({ agent_id: 'qa', confirm: true }, there);
    await laptop.syncNow();
    expect(await studio.syncNow()).toMatchObject({ state: 'ok', queued: 0, error: null });
    const sent = await studio.api.send({ to: 'laptop', msg_type: 'note', payload: { text: 'over ssh' } }, here);
    await studio.syncNow();
    await laptop.syncNow();
    const [message] = (await laptop.api.inbox({ agent_id: 'qa' }, there)).messages;
    expect(message).toMatchObject({ id: sent.id, payload: { text: 'over ssh' } });

    sshd.admit('', 'stranger');
    await laptop.api.ack({ agent_id: 'qa', message_ids: [message?.message_id], confirm: true }, there);
    const refused = await laptop.syncNow();
    expect(refused).toMatchObject({ state: 'offline', error: { name: 'auth_failed' } });
    expect(refused.queued).toBeGreaterThan(0);
    expect(refused.error?.message).not.toContain(fixture.root);
    sshd.admit('');
    expect(await laptop.syncNow()).toMatchObject({ state: 'ok', queued: 0, error: null });
    await studio.syncNow();
    expect((await studio.api.sent({}, here)).messages[0]).toMatchObject({ id: sent.id, state: 'acked' });
    expect(fixture.git(['-C', remote, 'fsck', '--strict'])).toBe('');
  });

  it('lets a machine that may only read join, and says so', async () => {
    const remote = fixture.bare('readonly.git');
    const options = { machine: 'studio', hostname: 'studio', dir: fixture.path('founder'), env, logger };
    await initMesh({ ...options, remote: sshd.url(remote) });
    const only = fixture.path('only-reads');
    writeFileSync(
      only,
      '#!/bin/sh\ncase "$SSH_ORIGINAL_COMMAND" in git-receive-pack*) echo "ERROR: deploy key is read only" >&2; exit 1;; esac\nexec sh -c "$SSH_ORIGINAL_COMMAND"\n',
      { mode: 0o755 },
    );
    sshd.admit(`command="${only}"`);
    expect(await join(sshd.url(remote), 'reader')).toMatchObject({ writable: false });
    const reader = await opened('reader');
    await reader.syncNow();
    const { remotes } = await reader.api.status();
    expect(remotes).toMatchObject([{ error: { name: 'push_refused' } }]);
    expect(remotes[0]?.error?.message).toContain('deploy key is read only');
    sshd.admit('');
  });

  it.each([
    ['nowhere.git', 'remote_not_found'],
    ['sshd', 'not_a_repository'],
  ])('makes no store where the remote %s has no repository', async (name, errorName) => {
    const dir = fixture.path('none');
    const remote = sshd.url(fixture.path(name));
    const failed = initMesh({ remote, machine: 'x', hostname: 'x', dir, env, logger });
    await expect(failed).rejects.toMatchObject({ errorName });
    expect(existsSync(dir)).toBe(false);
  });
});
