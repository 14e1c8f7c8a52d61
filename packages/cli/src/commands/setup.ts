import { resolve } from 'node:path';
import { Argument, Option } from 'commander';
import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';
import { hookClients } from '../hook/clients.js';
import type { HookClient } from '../hook/clients.js';
import type { Invocation } from '../invocation.js';
import type { Program, Scope } from '../setup/clients.js';

interface SetupFlags {
  scope: Scope;
  dryRun?: boolean;
  remove?: boolean;
}

export function registerSetup(program: Command, cli: Cli): void {
  program
    .command('setup')
    .summary('add git-mesh to a coding client')
    .description(
      'Add the MCP server to a client’s configuration and, where the client has hooks, one that mentions new messages at ' +
        'a turn’s start and end. Shows the change, keeps everything else in the files, and changes nothing the second ' +
        'time. --remove takes it out again.',
    )
    .addArgument(new Argument('<client>', 'the client').choices(hookClients))
    .addOption(
      new Option('--scope <scope>', 'for you everywhere, or for the project in this folder')
        .choices(['user', 'project'])
        .default('user'),
    )
    .option('--dry-run', 'only show the change')
    .option('--remove', 'take git-mesh out again')
    .addHelpText(
      'after',
      examples(
        ['git-mesh setup claude-code --dry-run', 'see what would change'],
        ['git-mesh setup claude-code', 'and do it'],
        ['git-mesh setup cursor --scope project', 'for everyone who works on this project'],
      ),
    )
    .action((client: HookClient, flags: SetupFlags, command: Command) =>
      cli.run(command, async (call) => {
        const { entriesOf } = await import('../setup/clients.js');
        const { planSetup } = await import('../setup/plan.js');
        const { applyChanges, requireWritable } = await import('../setup/apply.js');
        const { readText } = await import('../setup/config-file.js');
        const { runtime } = call;
        const place = { home: runtime.homedir(), cwd: runtime.cwd(), env: runtime.env, platform: runtime.platform };
        const entries = entriesOf(client, flags.scope, await programFor(call, flags.scope), place);
        const isRemoval = flags.remove === true;
        const changes = await planSetup(entries, { isRemoval, read: readText });
        const { setupResult, setupView } = await import('../views/setup.js');
        const result = setupResult(changes, { client, scope: flags.scope, preview: flags.dryRun === true });
        // A project's files are for others too.
        const options = { newMode: flags.scope === 'user' ? 0o600 : 0o666, uid: runtime.uid };
        await (flags.dryRun === true ? requireWritable : applyChanges)(changes, options);
        await call.show(result, setupView(client, isRemoval));
        if (!isRemoval && isStoreUnnamed(call, flags.scope)) {
          await call.warn(
            'GIT_MESH_DIR is set here, but a project’s files are for others too and do not name that store: the client ' +
              'must have the variable as well, or give the store with --dir',
          );
        }
        return exitCodes.done;
      }),
    );
}

const storeVariable = 'GIT_MESH_DIR';

/** Clients start servers and hooks with an environment of their own, which may lack what this one has. */
const isStoreUnnamed = ({ globals, runtime }: Invocation, scope: Scope): boolean =>
  scope === 'project' && globals.dir === undefined && (runtime.env[storeVariable] ?? '') !== '';

/** A file that others read too cannot name paths of this machine; an application's PATH may lack ours. */
async function programFor(call: Invocation, scope: Scope): Promise<Program> {
  const { shellWord } = await import('@git-mesh/core');
  const { runtime, globals } = call;
  const given = globals.dir ?? (scope === 'user' ? runtime.env[storeVariable] : undefined) ?? '';
  const dir = given === '' ? [] : ['--dir', resolve(runtime.cwd(), given)];
  const words = scope === 'project' ? ['git-mesh', ...dir] : [runtime.execPath, runtime.launcher, ...dir];
  const [command = '', ...args] = words;
  const quote = (word: string): string =>
    runtime.platform === 'win32' ? (/[\s&|<>^"]/.test(word) ? `"${word}"` : word) : shellWord(word);
  return { command, args, line: words.map(quote).join(' ') };
}
