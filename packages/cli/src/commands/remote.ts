import { Argument, type Command } from 'commander';
import type { Cli } from '../cli.js';
import { defined } from '../defined.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';
import type { Invocation } from '../invocation.js';
import { absoluteRemote } from '../remote-location.js';
import { UsageError } from '../usage-error.js';

type Action = 'add' | 'list' | 'remove';
interface RemoteFlags {
  allowPublic?: boolean;
}

/** @throws UsageError unless exactly the arguments that the action takes are given. */
function checkUse(action: Action, name: string | undefined, url: string | undefined, flags: RemoteFlags): void {
  if (action === 'add' && (name === undefined || url === undefined)) {
    throw new UsageError('which remote? Give its name and its URL: git-mesh remote add NAME URL');
  }
  if (action === 'remove' && name === undefined) {
    throw new UsageError('which remote? Give its name: git-mesh remote remove NAME');
  }
  const given = [name, url].filter((each) => each !== undefined).length;
  const taken = { add: 2, list: 0, remove: 1 }[action];
  if (given > taken) throw new UsageError(`remote ${action} takes ${taken === 0 ? 'no argument' : 'only a name'}`);
  if (action !== 'add' && flags.allowPublic === true) throw new UsageError('--allow-public is for remote add');
}

async function list(call: Invocation): Promise<number> {
  return call.withMesh(async (mesh) => {
    const { remotes } = await mesh.api.status();
    const { remotesView } = await import('../views/remote.js');
    await call.show({ remotes }, remotesView);
    return exitCodes.done;
  });
}

async function add(call: Invocation, name: string, url: string, flags: RemoteFlags): Promise<number> {
  const { runtime } = call;
  const { addRemote } = await runtime.meshAccess();
  const result = await addRemote({
    dir: await call.storeDir(),
    env: runtime.env,
    logger: call.logger,
    name,
    url: absoluteRemote(url, runtime.cwd()),
    ...defined({ allowPublic: flags.allowPublic, onProgress: call.onProgress }),
  });
  const { remoteAddedView } = await import('../views/remote.js');
  await call.show(result, remoteAddedView);
  return exitCodes.done;
}

async function remove(call: Invocation, name: string): Promise<number> {
  const { removeRemote } = await call.runtime.meshAccess();
  const { env } = call.runtime;
  const result = await removeRemote({ dir: await call.storeDir(), env, logger: call.logger, name });
  const { remoteRemovedView } = await import('../views/remote.js');
  await call.show(result, remoteRemovedView);
  return exitCodes.done;
}

export function registerRemote(program: Command, cli: Cli): void {
  program
    .command('remote')
    .usage('[options] [list | add <name> <url> | remove <name>]')
    .summary('list, add or remove the repositories the mesh goes through')
    .description(
      'A mesh can go through several repositories at once: each gets this machine’s branch, and what others wrote is ' +
        'carried from one to the other. add looks at the repository first, and takes one that is empty, has this mesh, ' +
        'or has no mesh (its other branches are left alone). A worker that runs takes a change up by itself.',
    )
    .addArgument(new Argument('[action]', 'what to do').choices(['list', 'add', 'remove']).default('list'))
    .argument('[name]', 'what the remote is called here')
    .argument('[url]', 'the repository: a path, file://, ssh://, host:path or https://')
    .option('--allow-public', 'add a repository over http(s) even where everybody can read it')
    .addHelpText(
      'after',
      examples(
        ['git-mesh remote', 'the remotes, and how the last exchange with each went'],
        ['git-mesh remote add hub2 git@git.example.org:team/mesh.git', 'use a second repository'],
        ['git-mesh remote remove hub2', 'use it no longer; the repository itself stays as it is'],
      ),
    )
    .action((action: Action, name: string | undefined, url: string | undefined, flags: RemoteFlags, command: Command) =>
      cli.run(command, async (call) => {
        checkUse(action, name, url, flags);
        if (action === 'add' && name !== undefined && url !== undefined) return add(call, name, url, flags);
        if (action === 'remove' && name !== undefined) return remove(call, name);
        return list(call);
      }),
    );
}
