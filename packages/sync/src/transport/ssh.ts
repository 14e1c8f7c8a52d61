import { MeshError } from '@git-mesh/core';
import type { Env } from '../git-env.js';
import { withoutGitVariables } from '../git-env.js';
import { redact } from '../redact.js';
import type { SshUrl } from '../remote-url.js';
import type { Exchange, Service, Transport } from './port.js';
import type { ServiceFailure } from './service-exchange.js';
import { openServiceExchange, receiveFinishMs, refuseAborted } from './service-exchange.js';
import type { Command } from './service-process.js';
import { runToEnd } from './service-process.js';
import type { SshConfig, SshProgram, SshVariant } from './ssh-command.js';
import { quoteForShell, sshArguments, sshProbe, sshProcess, sshProgram } from './ssh-command.js';
import { sshError } from './ssh-errors.js';
import { runUserGit } from './user-git.js';

export interface SshTransportOptions {
  url: SshUrl;
  /** The caller's environment: GIT_SSH_COMMAND, GIT_SSH and GIT_SSH_VARIANT are read from it, ssh gets the rest. */
  env: Env;
}

const configLimitMs = 5_000;

/** The user's program for ssh, and how it takes its options. */
interface Ssh {
  program: SshProgram;
  variant: SshVariant;
}

/** A repository on an ssh host: one `ssh` a exchange, which runs git's service there as git itself would. */
export function sshTransport({ url, env }: SshTransportOptions): Transport {
  // Both are checked where a URL is read; as arguments they must be right wherever this one came from.
  for (const part of [url.host, url.user ?? '', url.path]) {
    if (part.startsWith('-'))
      throw new MeshError('invalid_argument', `"${redact(part)}" would read as an option of ssh`);
  }
  const childEnv = sshEnv(env);
  const home = env['HOME'] ?? env['USERPROFILE'] ?? null;
  let known: Ssh | null = null;

  const command = (program: SshProgram, args: readonly string[]): Command => ({
    ...sshProcess(program, args, process.platform),
    env: childEnv,
  });

  /** Read once: the user's configuration does not change under a running worker. */
  async function findSsh(service: Service, signal: AbortSignal): Promise<Ssh> {
    if (known !== null) return known;
    const program = sshProgram(env, await readSshConfig(env, signal));
    known = { program, variant: program.variant === 'auto' ? await ask(program, service, signal) : program.variant };
    return known;
  }

  async function ask(program: SshProgram, service: Service, signal: AbortSignal): Promise<SshVariant> {
    const end = await runToEnd(command(program, sshProbe(url)), signal);
    refuseAborted(signal);
    // 127 is the shell's word for a program that is not there.
    if (end.startError !== null || (program.shell && end.status === 127)) {
      throw sshError({ end, words: '', cause: null }, { url, service, program, variant: 'simple', home, noise: null });
    }
    return end.status === 0 ? 'ssh' : 'simple';
  }

  async function open(service: Service, { signal }: { signal: AbortSignal }): Promise<Exchange> {
    refuseAborted(signal);
    const { program, variant } = await findSsh(service, signal);
    let noise: MeshError | null = null;
    const inspect = (answer: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> =>
      withoutNoise(answer, (said) => (noise = noiseError(url, said)));

    async function explain(failure: ServiceFailure): Promise<MeshError> {
      const error = sshError(failure, { url, service, program, variant, home, noise });
      if (error.errorName !== 'remote_not_found' || !failure.words.includes('not appear to be a git repository'))
        return error;
      // git says the same of a path where there is nothing. Home folders are git's to expand, not the shell's.
      if (url.path.startsWith('~')) return error;
      const look = sshArguments(variant, url, `test -e ${quoteForShell(url.path)}`);
      const { status } = await runToEnd(command(program, look), signal);
      return status === 0 ? notARepository(url, error) : error;
    }

    const args = sshArguments(variant, url, `${service} ${quoteForShell(url.path)}`);
    const ending = service === 'git-receive-pack' ? { finishMs: receiveFinishMs } : {};
    return openServiceExchange({ ...command(program, args), ...ending, where: url.host, explain, inspect }, signal);
  }

  return { watchable: null, open };
}

/**
 * What ssh and the programs in its place get. Without GIT_PROTOCOL the host answers in the protocol's version 0 or 1;
 * in the C locale its words are git's own. ssh has no terminal and must not open a window either.
 */
function sshEnv(env: Env): Record<string, string> {
  const clean = Object.entries(withoutGitVariables(env)).filter(
    ([name]) => !['SSH_ASKPASS', 'SSH_ASKPASS_REQUIRE', 'LANGUAGE', 'LC_ALL'].includes(name.toUpperCase()),
  );
  return { ...Object.fromEntries(clean), SSH_ASKPASS_REQUIRE: 'never', LC_ALL: 'C' };
}

/** Of the user's and the system's configuration, as `git config` has it outside of a repository. */
async function readSshConfig(env: Env, signal: AbortSignal): Promise<SshConfig> {
  const names = '^(core\\.sshcommand|ssh\\.variant)$';
  const output = await runUserGit(['config', '--null', '--get-regexp', names], { env, signal, limitMs: configLimitMs });
  const config: SshConfig = { command: null, variant: null };
  for (const entry of (output ?? '').split('\0')) {
    const [name, ...value] = entry.split('\n');
    // The last one counts.
    if (name === 'core.sshcommand') config.command = value.join('\n');
    if (name === 'ssh.variant') config.variant = value.join('\n');
  }
  return config;
}

/** How git's answer begins: a packet with an id, a version or an error, or a flush. */
const answerStart = /^(?:0000|[0-9a-f]{4}(?:[0-9a-f]{4}|vers|ERR ))/;
/** So many bytes tell. */
const startBytes = 8;

/**
 * Passes an answer on that begins as git's does. Without this look a date in a greeting ("2024-…") would be waited for
 * as a packet of that length.
 */
async function* withoutNoise(
  answer: AsyncIterable<Uint8Array>,
  noise: (said: string) => MeshError,
): AsyncGenerator<Uint8Array, void, undefined> {
  let head: Uint8Array | null = new Uint8Array(0);
  for await (const chunk of answer) {
    if (head === null) {
      yield chunk;
      continue;
    }
    head = Buffer.concat([head, chunk]);
    if (!isAnswer(head)) {
      if (head.length >= startBytes) throw noise(text(head));
      continue;
    }
    yield head;
    head = null;
  }
  if (head === null || head.length === 0) return;
  // Too short to tell: cut, where it could have become an answer.
  if (!/^[0-9a-f]*$/.test(text(head))) throw noise(text(head));
  yield head;
}

function isAnswer(head: Uint8Array): boolean {
  return answerStart.test(Buffer.from(head.subarray(0, startBytes)).toString('latin1'));
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(0, 1_000)).toString('utf8');
}

function noiseError({ host }: SshUrl, said: string): MeshError {
  return new MeshError(
    'protocol_error',
    `${host} wrote "${redact(said, { maxLength: 100 })}" before git's answer: its shell's start-up files (.bashrc and the like) must print nothing where the shell is not interactive, and the account must be allowed to run git`,
  );
}

function notARepository({ host }: SshUrl, cause: MeshError): MeshError {
  return new MeshError(
    'not_a_repository',
    `there is something at that path on ${host}, but no git repository that this user may read (a bare repository is made there with: git init --bare PATH)`,
    { cause },
  );
}
