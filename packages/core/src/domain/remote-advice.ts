import type { SyncSummary } from './results.js';

/** A remote that answers and takes nothing from this machine: what is stored here does not leave by it. */
const refusals: ReadonlySet<string> = new Set(['push_refused', 'own_branch_foreign', 'ref_blocked']);

const notLeaving = 'It is stored here, but it does not leave this machine';
const notThere = 'One of the remotes takes nothing from this machine';

/** A remote's error, as the state of the remote has it. */
export interface RemoteError {
  name: string;
  message: string;
}

/** What a person can do about a remote's error: by what the message says is behind it, else by the error's name. */
export function remoteAdvice(error: RemoteError): string {
  return adviceByCause(error) ?? adviceByName(error.name);
}

/** git's and the system's own words for what has nothing to do with rights or the network. */
function adviceByCause({ name, message }: RemoteError): string | null {
  if (name === 'unreachable' && message.startsWith('git is not installed')) {
    return 'install git, or put it on the PATH of this program; it is tried again by itself';
  }
  if (name === 'auth_failed' && message.includes('safe.directory')) {
    return 'if you trust whoever owns that folder, run the command that the message gives; it is tried again by itself';
  }
  if (name !== 'push_refused') return null;
  if (/No space left on device|Disk quota exceeded/i.test(message)) {
    return 'the disk of the repository is full: ask whoever runs it to free some space. Until then all is stored here, and it goes out by itself';
  }
  const lock = /\b((?:refs\/[^\s']+|HEAD|packed-refs|shallow)\.lock)\b/.exec(message)?.[1];
  if (lock !== undefined) {
    return `a git process that was killed left ${lock} in the repository, or one is still at work there: where none is, whoever runs it removes that file by hand (where the message names a time, the next push after it does). All that is stored here goes out then`;
  }
  const broken = /bad object (refs\/\S+?)[)\s]/.exec(message)?.[1];
  if (broken !== undefined) {
    return `the ref ${broken} of the repository is broken, and git takes no push while it is: ask whoever runs it to repair or delete that ref (git fsck names it); all that is stored here goes out then`;
  }
  if (/Read-only file system|Permission denied|insufficient permission/i.test(message)) {
    return 'the files of the repository cannot be written: ask whoever runs it to make them writable for this user (git init --shared does that for a group); all that is stored here goes out then';
  }
  return null;
}

function adviceByName(errorName: string): string {
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
    case 'ref_blocked':
      return 'have that ref deleted there, as the message says, and run git mesh sync: no right to write is missing. Until then all is stored here, and what others send still comes in';
    case 'own_branch_foreign':
      return 'somebody pushed to this branch without this store: look at what is there (it is kept in the store under refs/quarantine), then put this machine’s branch back with git mesh reclaim REMOTE. Until then all is stored here, and what others send still comes in. Where another store is to keep the handle, join again under a free one, git mesh join URL --machine HANDLE --dir NEWDIR, and send again from there what waits here (git mesh sent shows it)';
    case 'store_copied':
      return 'where this store takes the place of the other for good, say so with git mesh reclaim REMOTE; else join with a store of its own, git mesh join URL --machine HANDLE --dir NEWDIR. What waits here stays here until then';
    case 'handle_conflict':
      return 'join again under a free handle, git mesh join URL --machine HANDLE --dir NEWDIR, and send again from there what waits here (this store keeps all that it holds, and git mesh sent shows it); where the handle is this machine’s by right, git mesh reclaim REMOTE puts its branch back';
    case 'unfetchable':
    case 'broken_ref':
      return 'the branch of this machine is broken in the repository: ask whoever runs it to delete or repair that ref (git fsck there names it); then this machine pushes it again by itself';
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
export function refusalWarning({ state, error }: SyncSummary): string | null {
  if (error === null || !refusals.has(error.name)) return null;
  return `${state === 'partial' ? notThere : notLeaving}: ${error.message}`;
}

/** A warning of a send less its {@link refusalWarning}, with which it ends: for who tells of the refusal otherwise. */
export function withoutRefusal(warning: string): string {
  const [at = warning.length] = [notLeaving, notThere]
    .map((words) => warning.indexOf(words))
    .filter((found) => found >= 0);
  return warning.slice(0, at).trim();
}
