import { resolve } from 'node:path';
import { Option, type Command } from 'commander';
import type { Cli } from '../cli.js';
import { defined } from '../defined.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';
import { absoluteRemote } from '../remote-location.js';

interface InitFlags {
  remote?: string;
  machine?: string;
  label?: string;
  key?: string;
  policy?: 'open' | 'roster';
  refPrefix?: string;
  allowPublic?: boolean;
}

export function registerInit(program: Command, cli: Cli): void {
  program
    .command('init')
    .summary('make a new mesh')
    .description(
      'Make a new mesh with this machine as its first. With --remote the mesh lives in that empty repository and ' +
        'other machines can join it; without, it is a mesh of one machine. Run again after it was interrupted, it ' +
        'finishes what is left.',
    )
    .option('--remote <url>', 'the shared repository: the path of a bare one, host:path, or an ssh:// or https:// URL')
    .option('--machine <handle>', "this machine's name in the mesh (default: the host's name)")
    .option('--label <text>', 'a longer description of this machine')
    .option('--key <file>', 'an Ed25519 private key to sign with, which is copied (default: a new one)')
    .addOption(
      new Option(
        '--policy <policy>',
        'who counts: whoever can push there (open, the default), or whom a member admits (roster)',
      ).choices(['open', 'roster']),
    )
    .option('--ref-prefix <prefix>', 'where the branches live (default: refs/heads/mesh/)')
    .option('--allow-public', 'the repository may be one that everyone can read')
    .addHelpText(
      'after',
      examples(
        ['git init --bare -b main /srv/git/team.git', 'any empty repository will do'],
        ['git-mesh init --remote /srv/git/team.git --machine studio', 'make the mesh there'],
        ['git-mesh init', 'a mesh of this machine alone'],
      ),
    )
    .action((flags: InitFlags, command: Command) =>
      cli.run(command, async (call) => {
        const { runtime } = call;
        const { initMesh } = await runtime.meshAccess();
        const result = await initMesh({
          dir: await call.storeDir(),
          env: runtime.env,
          logger: call.logger,
          hostname: runtime.hostname(),
          ...defined({
            remote: flags.remote === undefined ? undefined : absoluteRemote(flags.remote, runtime.cwd()),
            machine: flags.machine,
            label: flags.label,
            keyFile: flags.key === undefined ? undefined : resolve(runtime.cwd(), flags.key),
            policy: flags.policy,
            refPrefix: flags.refPrefix,
            allowPublic: flags.allowPublic,
            onProgress: call.onProgress,
          }),
        });
        const { membershipView } = await import('../views/membership.js');
        await call.show(result, membershipView('made'));
        return exitCodes.done;
      }),
    );
}
