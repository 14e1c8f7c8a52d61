import { isAbsolute } from 'node:path';
import { MeshError, shellWord } from '@git-mesh/core';
import type { Env } from '../git-env.js';
import { gitEnv, gitSafeArgs } from '../git-env.js';
import { redact } from '../redact.js';
import { leftLocks } from './left-locks.js';
import { checkBareRepository } from './local-repository.js';
import { isOwn, needsTrust } from './local-trust.js';
import { localView } from './local-view.js';
import type { Service, Transport } from './port.js';
import type { ServiceFailure } from './service-exchange.js';
import { openServiceExchange, receiveFinishMs, refuseAborted } from './service-exchange.js';
import { RemoteWords } from './side-band.js';

export interface LocalTransportOptions {
  /** The bare repository's folder, absolute. */
  path: string;
  /** The caller's environment; cleaned by {@link gitEnv} before git sees it. */
  env: Env;
  /** The file of {@link writeGitConfig}; without one no safe.directory of the user's holds. */
  globalConfig?: string | undefined;
  /** Writes that file where this was not done yet; called where a service may need what is in it. */
  writeConfig?: (() => Promise<unknown>) | undefined;
}

/**
 * git takes its locks away when it is asked to end, which takes a moment on a slow share; killed, it leaves them and
 * blocks the branch. A round has 20 s, and may take 25 with this and {@link receiveFinishMs}.
 */
const receiveGraceMs = 3_000;

/** A bare repository on a disk or share: one `git upload-pack` or `git receive-pack` an exchange. */
export function localTransport(options: LocalTransportOptions): Transport {
  const { path, globalConfig, writeConfig } = options;
  if (!isAbsolute(path)) throw new MeshError('invalid_argument', "the remote's path is not absolute");
  // git itself decides whether somebody else's repository is to be trusted.
  let isTrusted = false;
  return {
    watchable: path,
    locks: leftLocks(path),
    async view({ signal }) {
      refuseAborted(signal);
      await checkBareRepository(path);
      return isTrusted || (await isOwn(path)) ? localView(path) : null;
    },
    async open(service, { signal }) {
      refuseAborted(signal);
      await checkBareRepository(path);
      const isNeeded = writeConfig === undefined || (await needsTrust(path));
      if (isNeeded) await writeConfig?.();
      // One that a power cut damaged keeps git from starting at all.
      const env = gitEnv(options.env, isNeeded ? { globalConfig } : {});
      const command = service === 'git-upload-pack' ? ['upload-pack', '--strict'] : ['receive-pack'];
      const exchange = await openServiceExchange(
        {
          where: 'the remote',
          program: 'git',
          args: [...gitSafeArgs, ...command, '--', path],
          env,
          ...(service === 'git-receive-pack' ? { graceMs: receiveGraceMs, finishMs: receiveFinishMs } : {}),
          explain: (failure) => explain(service, path, failure),
        },
        signal,
      );
      isTrusted = true;
      return exchange;
    },
  };
}

function explain(service: Service, path: string, { end, words, cause }: ServiceFailure): MeshError {
  const because = cause === null ? {} : { cause };
  if (end.startError !== null) return notStarted(end.startError);
  // Named in every language, since it is the setting's name.
  if (words.includes('safe.directory')) {
    return new MeshError(
      'auth_failed',
      `git refuses the remote because its folder belongs to another user. If you trust it: git config --global --add safe.directory ${shellWord(path)}`,
      because,
    );
  }
  const how = end.status === null ? `was ended by ${String(end.signal)}` : `ended with status ${end.status}`;
  const said = redact(words.replaceAll(path, 'the remote'));
  // It ended by itself and says why: its repository may be at fault at one branch only.
  const own = said !== '' && end.status !== null ? { cause: new RemoteWords(words) } : because;
  return new MeshError('protocol_error', `${service} ${how}${said === '' ? '' : `: ${said}`}`, own);
}

function notStarted(error: NodeJS.ErrnoException): MeshError {
  const message =
    error.code === 'ENOENT'
      ? 'git is not installed, or not on PATH: a remote on a disk or share needs it (https://git-scm.com/downloads)'
      : `git could not be started (${error.code ?? 'unknown reason'})`;
  return new MeshError('unreachable', message, { cause: error });
}
