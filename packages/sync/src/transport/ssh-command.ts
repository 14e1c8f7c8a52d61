import { MeshError } from '@git-mesh/core';
import type { Env } from '../git-env.js';
import type { SshUrl } from '../remote-url.js';

/** How a program in ssh's place takes its options. `auto` is to be found out by asking it. */
export type SshVariant = 'ssh' | 'plink' | 'tortoiseplink' | 'simple';

/** What the user runs for ssh. */
export interface SshProgram {
  /** A program's name or path; with `shell`, a line for the shell. */
  command: string;
  shell: boolean;
  variant: SshVariant | 'auto';
  /** Who said so, for messages. */
  source: 'GIT_SSH_COMMAND' | 'core.sshCommand' | 'GIT_SSH' | 'default';
}

/** Of the user's git configuration; null where it is not set. */
export interface SshConfig {
  command: string | null;
  variant: string | null;
}

/** How long ssh may try to connect, in seconds: less than a round has. */
const connectTimeoutSeconds = 10;

/** git's order: GIT_SSH_COMMAND, core.sshCommand (both for the shell), GIT_SSH, ssh. */
export function sshProgram(env: Env, config: SshConfig): SshProgram {
  const chosen = chooseProgram(env, config);
  return { ...chosen, variant: variantOf(chosen, set(env['GIT_SSH_VARIANT']) ?? set(config.variant)) };
}

function chooseProgram(env: Env, config: SshConfig): Omit<SshProgram, 'variant'> {
  const line = set(env['GIT_SSH_COMMAND']);
  if (line !== null) return { command: line, shell: true, source: 'GIT_SSH_COMMAND' };
  const configured = set(config.command);
  if (configured !== null) return { command: configured, shell: true, source: 'core.sshCommand' };
  const program = set(env['GIT_SSH']);
  if (program !== null) return { command: program, shell: false, source: 'GIT_SSH' };
  return { command: 'ssh', shell: false, source: 'default' };
}

/** git's rules: what the user says, else the program's name, else it has to be asked. */
function variantOf({ command, shell }: Omit<SshProgram, 'variant'>, said: string | null): SshVariant | 'auto' {
  switch (said) {
    case null:
      break;
    case 'auto':
    case 'simple':
    case 'plink':
    case 'tortoiseplink':
      return said;
    case 'putty':
      return 'plink';
    default:
      return 'ssh';
  }
  const program = shell ? firstWord(command) : command;
  const name = (/[^/\\]*$/.exec(program)?.[0] ?? '').toLowerCase().replace(/\.exe$/, '');
  return name === 'ssh' || name === 'plink' || name === 'tortoiseplink' ? name : 'auto';
}

/** Of a line for the shell, with its quotes taken off. */
function firstWord(line: string): string {
  let word = '';
  for (const [part] of line.trimStart().matchAll(/"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\]+|./gs)) {
    if (/^\s$/.test(part)) break;
    word += /^["']/.test(part) ? part.slice(1, -1) : part.replace(/^\\(?=.)/s, '');
  }
  return word;
}

/**
 * The arguments that run `remoteCommand` on the host, which its shell will read.
 * @throws MeshError `invalid_argument` where the URL has a port and the variant cannot take one.
 */
export function sshArguments(variant: SshVariant, url: SshUrl, remoteCommand: string): string[] {
  return [...sshOptions(variant, url), destination(url), remoteCommand];
}

/** Asks a program of unknown kind whether it is OpenSSH's: only that one prints its configuration and ends well. */
export function sshProbe(url: SshUrl): string[] {
  return ['-G', ...sshOptions('ssh', url), destination(url)];
}

function sshOptions(variant: SshVariant, { port }: SshUrl): string[] {
  switch (variant) {
    case 'ssh':
      return [
        ...option('BatchMode=yes'),
        ...option(`ConnectTimeout=${connectTimeoutSeconds}`),
        // What the user's configuration sets up for a person at a terminal: a forwarded port belongs to them, and a
        // shared connection that starts here would hold others' sessions. One that is there already is used.
        ...option('ClearAllForwardings=yes'),
        ...option('ControlMaster=no'),
        '-T',
        ...(port === null ? [] : ['-p', String(port)]),
      ];
    case 'plink':
    case 'tortoiseplink':
      return ['-batch', ...(port === null ? [] : ['-P', String(port)])];
    case 'simple':
      if (port === null) return [];
      throw new MeshError(
        'invalid_argument',
        `The program in ssh's place takes no port, but the remote's URL has one (${port}): set the port in its own configuration and leave it out of the URL, or set GIT_SSH_VARIANT=ssh if it takes OpenSSH's options.`,
      );
  }
}

const option = (setting: string): string[] => ['-o', setting];

function destination({ user, host }: SshUrl): string {
  return user === null ? host : `${user}@${host}`;
}

/** The line that a person runs once by hand to see what ssh says. */
export function sshByHand(url: SshUrl): string {
  return ['ssh', ...(url.port === null ? [] : ['-p', String(url.port)]), destination(url)].join(' ');
}

/** As git quotes an argument for a shell: in single quotes, with `'` and (for csh) `!` outside of them. */
export function quoteForShell(argument: string): string {
  return `'${argument.replace(/['!]/g, (character) => `'\\${character}'`)}'`;
}

/**
 * The process that runs `program` with these arguments. A line for the shell is run as git runs it: by `sh`, or on
 * Windows, where `sh` is seldom on PATH, by git, which knows where its own is.
 */
export function sshProcess(
  { command, shell }: SshProgram,
  args: readonly string[],
  platform: NodeJS.Platform,
): { program: string; args: string[] } {
  // Without anything for a shell to do git starts it directly, and so a missing program is told as such.
  if (!shell || !/[|&;<>()$`\\"' \t\n*?[#~=%]/.test(command)) return { program: command, args: [...args] };
  if (platform === 'win32') {
    return { program: 'git', args: ['-c', `alias.mesh-ssh=!${command}`, 'mesh-ssh', ...args] };
  }
  return { program: '/bin/sh', args: ['-c', `${command} "$@"`, command, ...args] };
}

function set(value: string | null | undefined): string | null {
  return value === undefined || value === '' ? null : value;
}
