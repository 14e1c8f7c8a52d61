import { describe, expect, it } from 'vitest';
import { refusalWarning, remoteAdvice, withoutRefusal } from './remote-advice.js';
import type { SyncSummary } from './results.js';

describe('advice for a remote’s error', () => {
  it.each([
    ['push_refused', 'Remote origin refused refs/heads/mesh/a: unpacker error (No space left on device)', 'disk'],
    ['push_refused', 'refused x: missing necessary objects (fatal: bad object refs/heads/mesh/b)', 'refs/heads/mesh/b'],
    ['push_refused', 'refused x: unable to create temporary object directory (Permission denied)', 'writable'],
    [
      'push_refused',
      "cannot lock ref 'refs/heads/mesh/a': Unable to create '/r/refs/heads/mesh/a.lock'",
      'removes that',
    ],
    ['push_refused', 'Remote origin refused refs/heads/mesh/a: protected branch', 'branch protection'],
    ['unreachable', 'git is not installed, or not on PATH', 'install git'],
    ['unreachable', 'nobody answers', 'check the network'],
    ['auth_failed', 'git refuses the remote. If you trust it: git config --global --add safe.directory /x', 'trust'],
    ['auth_failed', 'the key was refused', 'check the key'],
    ['unfetchable', 'not our ref', 'delete or repair'],
  ])('for %s (%s) speaks of: %s', (name, message, word) => {
    expect(remoteAdvice({ name, message })).toContain(word);
  });
});

describe('the warning of a refusal', () => {
  const refused = (state: SyncSummary['state']): SyncSummary => ({
    state,
    last_ok_at: null,
    queued: 1,
    error: { name: 'push_refused', message: 'Remote prot refused it' },
  });

  it('says that nothing leaves only where no remote takes it', () => {
    expect(refusalWarning(refused('offline'))).toContain('does not leave this machine: Remote prot');
    expect(refusalWarning(refused('partial'))).toContain(
      'One of the remotes takes nothing from this machine: Remote prot',
    );
    expect(refusalWarning({ ...refused('offline'), error: { name: 'unreachable', message: 'x' } })).toBeNull();
  });

  it('is taken from the end of a warning, whichever it is', () => {
    for (const state of ['offline', 'partial'] as const) {
      expect(withoutRefusal(`Nobody is there. ${refusalWarning(refused(state)) ?? ''}`)).toBe('Nobody is there.');
    }
    expect(withoutRefusal('Nobody is there.')).toBe('Nobody is there.');
  });
});
