import { toIso } from '@git-mesh/core';
import type { MeshContext, Problem } from '@git-mesh/core';
import type { Remote } from './remote-context.js';
import type { LockThere } from './transport/port.js';
import { within } from './within.js';

/** A share that hangs keeps nobody waiting for longer. */
const lookMs = 2_000;

/** For doctor: git's locks that killed processes left in remotes on a disk or share. A remote that cannot be read has none. */
export async function remoteLocks({ store }: MeshContext, remotes: readonly Remote[]): Promise<Problem[]> {
  const found = await Promise.all(
    remotes.map(async ({ name, transport }) => {
      let left: readonly LockThere[] = [];
      const look = async (): Promise<void> => {
        left = (await transport.locks?.left()) ?? [];
      };
      await within(look(), lookMs);
      return left.map((lock) => problemOf(name, lock, `${store.branch}.lock`));
    }),
  );
  return found.flat();
}

function problemOf(remote: string, { path, madeAt }: LockThere, own: string): Problem {
  return {
    kind: 'remote_lock',
    path,
    message: `remote ${remote}: a git process that was killed left ${path} there at ${toIso(Math.round(madeAt))}`,
    fix:
      path === own
        ? 'nothing needs to be done: the next git mesh sync of this machine, or its worker, removes it'
        : `git takes it for a process at work, and ${whatWaits(path)} until it is gone: where no git works on that repository, whoever runs it removes the file`,
  };
}

function whatWaits(path: string): string {
  switch (path) {
    case 'HEAD.lock':
      return 'takes no push to the branch that HEAD names';
    case 'packed-refs.lock':
      return 'packs and deletes no refs';
    case 'shallow.lock':
    case 'config.lock':
      return 'changes no such file';
    default:
      return 'takes no push to that branch';
  }
}
