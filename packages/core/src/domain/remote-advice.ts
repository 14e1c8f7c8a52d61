import type { SyncSummary } from './results.js';

/** A remote that answers and takes nothing from this machine: what is stored here does not leave by it. */
const refusals: ReadonlySet<string> = new Set(['push_refused', 'own_branch_foreign']);

const notLeaving = 'It is stored here, but it does not leave this machine';

/** What a person can do about a remote's error, by the error's name. */
export function remoteAdvice(errorName: string): string {
  switch (errorName) {
    case 'unreachable':
    case 'deadline':
      return 'nothing is lost, and it is tried again by itself; check the network, the address and whether the server runs';
    case 'auth_failed':
      return 'check the key or the credentials that git uses for this address (git ls-remote URL must work without a question); what is stored here goes out then';
    case 'remote_not_found':
    case 'not_a_repository':
      return 'check the address with git ls-remote URL; whoever runs the server may have moved, renamed or removed the repository';
    case 'push_refused':
      return 'ask whoever runs the repository to let this machine push its own branch (the one that the message names): write access, or an exception from branch protection or from the hook; then run git mesh sync. Until then all is stored here, and what others send still comes in';
    case 'own_branch_foreign':
      return 'another store writes under this handle, or somebody pushed to this branch. If another machine uses the handle, join again under a free one: git mesh join URL --machine HANDLE --dir NEWDIR (this store keeps all that it holds); else ask whoever runs the repository to put the branch back to the tip that this machine pushed, then run git mesh sync';
    case 'different_mesh':
      return 'ask whoever runs the server to put the right repository back; nothing of this mesh is written to another one';
    case 'disk_full':
      return 'free some space on the disk of the store, then run git mesh sync';
    case 'read_only':
      return 'make the store writable for this user, then run git mesh sync';
    case 'store_damaged':
      return 'run git mesh doctor, which names what is damaged and how it is mended';
    case 'locked':
      return 'another process holds the store: try again; git mesh doctor names it where it stays so';
    case 'payload_too_large':
    case 'protocol_error':
      return 'look at what answers there with git ls-remote URL and git fetch; it is tried again by itself';
    default:
      return 'it is tried again by itself; git mesh sync --verbose says more';
  }
}

/**
 * The one warning where what is stored here does not get out because a remote refuses it: it is no failure of the send,
 * and no waiting mends it. Null while nothing is refused.
 */
export function refusalWarning({ error }: SyncSummary): string | null {
  if (error === null || !refusals.has(error.name)) return null;
  return `${notLeaving}: ${error.message}`;
}

/** A warning of a send less its {@link refusalWarning}, with which it ends: for who tells of the refusal otherwise. */
export function withoutRefusal(warning: string): string {
  const at = warning.indexOf(notLeaving);
  return (at < 0 ? warning : warning.slice(0, at)).trim();
}
