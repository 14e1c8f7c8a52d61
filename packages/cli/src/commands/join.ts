import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { defined } from '../defined.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';
import { absoluteRemote } from '../remote-location.js';

interface JoinFlags {
  machine?: string;
  label?: string;
}

export function registerJoin(program: Command, cli: Cli): void {
  program
    .command('join')
    .summary('join a mesh from this machine')
    .description('Join the mesh in a shared repository. This machine gets a store, a key and a branch of its own.')
    .argument('<url>', 'the shared repository: the path of a bare one, file://, ssh://, host:path or https://')
    .option('--machine <handle>', "this machine's name in the mesh (default: the host's name)")
    .option('--label <text>', 'a longer description of this machine')
    .addHelpText(
      'after',
      examples(
        ['git-mesh join /srv/git/team.git', "join under this host's name"],
        ['git-mesh join /mnt/share/team.git --machine laptop', 'join under another name'],
      ),
    )
    .action((url: string, flags: JoinFlags, command: Command) =>
      cli.run(command, async (call) => {
        const { runtime } = call;
        const { joinMesh } = await runtime.meshAccess();
        const result = await joinMesh({
          dir: await call.storeDir(),
          env: runtime.env,
          logger: call.logger,
          hostname: runtime.hostname(),
          url: absoluteRemote(url, runtime.cwd()),
          ...defined({ machine: flags.machine, label: flags.label, onProgress: call.onProgress }),
        });
        const { membershipView } = await import('../views/membership.js');
        await call.show(result, membershipView('joined'));
        return exitCodes.done;
      }),
    );
}
