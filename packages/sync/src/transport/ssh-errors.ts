import { MeshError } from '@git-mesh/core';
import type { ErrorName } from '@git-mesh/core';
import { redact } from '../redact.js';
import type { SshUrl } from '../remote-url.js';
import type { Service } from './port.js';
import type { ServiceFailure } from './service-exchange.js';
import type { SshProgram, SshVariant } from './ssh-command.js';
import { RemoteWords } from './side-band.js';
import { sshByHand } from './ssh-command.js';

export interface SshFailureContext {
  url: SshUrl;
  service: Service;
  program: SshProgram;
  variant: SshVariant;
  /** The user's home, which must not be shown; null where unknown. */
  home: string | null;
  /** What the host wrote in place of an answer, told as an error; null where it did not. */
  noise: MeshError | null;
}

interface Kind {
  words: RegExp;
  name: ErrorName;
  /** The same for git-receive-pack, where it differs. */
  pushName?: ErrorName;
  /** What is wrong and what to do; what was said is added. */
  tell: (context: SshFailureContext) => string;
}

const byHand = ({ url }: SshFailureContext): string => `\`${sshByHand(url)}\``;

const changedHostKey: Kind = {
  words: /REMOTE HOST IDENTIFICATION HAS CHANGED|WARNING - POTENTIAL SECURITY BREACH/,
  name: 'auth_failed',
  tell: (context) =>
    `${context.url.host} shows another host key than before, which may be an attack: ask who runs it; if the change is right, remove the old key (${forgetHost(context.url)}) and run ${byHand(context)} once by hand`,
};

/** What ssh and plink say when there is no connection, the surest first. Never translated. */
const connectionKinds: readonly Kind[] = [
  {
    words: /Host key verification failed|host key is not cached|No \S+ host key is known|cannot confirm a host key/i,
    name: 'auth_failed',
    tell: (context) =>
      `the host key of ${context.url.host} is not known on this machine: run ${byHand(context)} once by hand, compare the fingerprint with the one its administrators give, and accept it`,
  },
  {
    words:
      /Permission denied \(|Permission denied, please try again|Too many authentication failures|No supported authentication methods|FATAL ERROR: .*Access denied|Unable to authenticate/i,
    name: 'auth_failed',
    tell: (context) =>
      `${context.url.host} does not let this user in: run ${byHand(context)} once by hand; it must work without asking for anything, so with a key that is in ssh-agent or has no passphrase`,
  },
  {
    words: /Could not resolve hostname|Name or service not known|Host does not exist|Unknown host/i,
    name: 'unreachable',
    tell: ({ url }) => `the name ${url.host} cannot be resolved: check its spelling, the network and any VPN`,
  },
  {
    words: /Connection refused/i,
    name: 'unreachable',
    tell: ({ url }) => `${whereOf(url)} refuses connections: check the port, and that sshd runs there`,
  },
  {
    words: /timed out|No route to host|Network is (?:unreachable|down)|Host is down/i,
    name: 'unreachable',
    tell: ({ url }) => `${whereOf(url)} does not answer: check that it is up, and the network and any VPN`,
  },
  {
    words: /kex_exchange_identification|ssh_exchange_identification|banner exchange|Unable to negotiate/i,
    name: 'unreachable',
    tell: (context) =>
      `${whereOf(context.url)} answers, but no ssh connection came about: check the port, and what ${byHand(context)} says`,
  },
];

/** What the host's shell, git and the git hosts say. git's words are English where LC_ALL reaches the host. */
const hostKinds: readonly Kind[] = [
  {
    // git names its setting in every language.
    words: /safe\.directory|dubious ownership/,
    name: 'auth_failed',
    tell: ({ url }) =>
      `git on ${url.host} refuses the repository because it belongs to another user there. If it may be trusted, run on ${url.host}: git config --global --add safe.directory PATH`,
  },
  {
    words:
      /git-(?:upload|receive)-pack['"]?: (?:command )?not found|not found: ['"]?git-|git-(?:upload|receive)-pack' is not recognized/i,
    name: 'unreachable',
    tell: (context) =>
      `git is not installed on ${context.url.host}, or not on PATH of shells that are not interactive there (\`${sshByHand(context.url)} git --version\` must work)`,
  },
  {
    words:
      /not appear to be a git repository|not a git repository|repository .{0,500}(?:not found|does not exist)|not found.{0,80}repository|project you were looking for could not be found|Unknown repository/is,
    name: 'remote_not_found',
    tell: ({ url }) =>
      `there is no git repository at that path on ${url.host}, or this user may not see it: check the path (a bare repository is made there with: git init --bare PATH)`,
  },
  {
    // Many words, so only where a program says them of itself ("ERROR: …"), not in a greeting.
    words:
      /^(?:[\w-]{1,40}: |repository ).{0,500}(?:read[- ]only|write access|not allowed|DENIED by|Permission to \S+ denied|have permission|not authori[sz]ed|unauthori[sz]ed|access denied|forbidden|insufficient permission|deploy key)/im,
    name: 'auth_failed',
    // Reading may well work: that is no question of who we are.
    pushName: 'push_refused',
    tell: ({ url }) => `${url.host} refuses this user: ask who runs the repository for the right`,
  },
];

/** The error for an ssh process that could not be started or ended badly. */
export function sshError({ end, words, cause }: ServiceFailure, context: SshFailureContext): MeshError {
  const { url, service, program, noise } = context;
  const because = cause === null ? {} : { cause };
  if (end.startError !== null) return notStarted(end.startError, program);
  const last = lastLines(words);
  const said = shownWords(last, context);
  const kind = kindOf(end.status, context.variant, words, last);
  if (kind !== undefined) {
    const name = service === 'git-receive-pack' ? (kind.pushName ?? kind.name) : kind.name;
    return new MeshError(name, `${kind.tell(context)}${said}`, because);
  }
  // An answer that is none tells more than the status with which it ended.
  if (noise !== null) return noise;
  if (program.shell && end.status === 127) {
    return new MeshError('unreachable', `the command in ${program.source} was not found${said}`, because);
  }
  if (isConnectionEnd(end.status)) {
    return new MeshError(
      'unreachable',
      `the connection to ${whereOf(url)} failed or was lost: if this goes on, run ${byHand(context)} by hand to see why${said}`,
      because,
    );
  }
  // As for a local remote.
  const own = said === '' ? because : { cause: new RemoteWords(words) };
  return new MeshError('protocol_error', `${service} on ${url.host} ended with status ${end.status}${said}`, own);
}

/** 255 is ssh's own failure and the end of a connection. A signal ended it otherwise, of which a shell tells by 128 and more. */
function isConnectionEnd(status: number | null): boolean {
  return status === null || status === 255 || (status > 128 && status <= 192);
}

function kindOf(status: number | null, variant: SshVariant, words: string, last: readonly string[]): Kind | undefined {
  if (changedHostKey.words.test(words)) return changedHostKey;
  // Only the last lines: a host's banner, which comes before them, may say anything.
  const text = last.join('\n');
  // OpenSSH's status tells its own words from the host's.
  const ownWords = variant !== 'ssh' || isConnectionEnd(status);
  const hostsWords = variant !== 'ssh' || !isConnectionEnd(status);
  const kinds = [...(ownWords ? connectionKinds : []), ...(hostsWords ? hostKinds : [])];
  return kinds.find((kind) => kind.words.test(text));
}

function lastLines(words: string): string[] {
  return words
    .split(/[\r\n]+/)
    .filter((line) => line.trim() !== '' && !/^@+$|^\*\*/.test(line))
    .slice(-5);
}

function shownWords(last: readonly string[], { url, home }: SshFailureContext): string {
  let text = last.join('\n').replaceAll(url.path, 'PATH');
  if (home !== null && home.length > 1) text = text.replaceAll(home, '~');
  const shown = redact(text, { maxLength: 400 });
  return shown === '' ? '' : ` (it says: ${shown})`;
}

function forgetHost({ host, port }: SshUrl): string {
  return `\`ssh-keygen -R ${port === null ? host : `"[${host}]:${port}"`}\``;
}

function whereOf({ host, port }: SshUrl): string {
  return port === null ? host : `${host} port ${port}`;
}

function notStarted(error: NodeJS.ErrnoException, { source }: SshProgram): MeshError {
  if (error.code !== 'ENOENT') {
    return new MeshError('unreachable', `ssh could not be started (${error.code ?? 'unknown reason'})`, {
      cause: error,
    });
  }
  const message =
    source === 'default'
      ? "ssh is not installed, or not on PATH: install OpenSSH's client (openssh-client on Debian and Ubuntu, openssh-clients on Fedora, the optional feature OpenSSH Client on Windows)"
      : `the program that ${source} names was not found: correct it, or unset it to use the ssh on PATH`;
  return new MeshError('unreachable', message, { cause: error });
}
