import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { defined } from '../defined.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';
import { absoluteRemote } from '../remote-location.js';
import { UsageError } from '../usage-error.js';

interface JoinFlags {
  machine?: string;
  label?: string;
  key?: string;
  allowPublic?: boolean;
}

export function registerJoin(program: Command, cli: Cli): void {
  program
    .command('join')
    .summary('join a mesh from this machine')
    .description(
      'Join the mesh in a shared repository or a bundle, or by an invitation. This machine gets a store, a key and a branch of its own. ' +
        'Run again after it was interrupted, it finishes what is left. Where the policy of the mesh is roster, nobody ' +
        'reads this machine until a member admits it, as an invitation does by itself.',
    )
    .argument(
      '<url>',
      'the shared repository: the path of a bare one, host:path, or an ssh:// or https:// URL; or a bundle of the mesh, ' +
        'or the code, or the whole line, that git-mesh invite printed',
    )
    // The line that git-mesh invite printed, pasted behind `join` as it is, is several.
    .allowExcessArguments()
    .option('--machine <handle>', "this machine's name in the mesh (default: the host's name)")
    .option('--label <text>', 'a longer description of this machine')
    .option('--key <file>', 'an Ed25519 private key to sign with, which is copied (default: a new one)')
    .option('--allow-public', 'the repository may be one that everyone can read')
    .addHelpText(
      'after',
      examples(
        ['git-mesh join /srv/git/team.git', "join under this host's name"],
        ['git-mesh join /mnt/share/team.git --machine laptop', 'join under another name'],
        ['git-mesh join mesh1.eyJ2Ij…', 'by an invitation'],
        ['git-mesh join /media/usb/mesh.bundle --machine lab', 'with no repository in reach'],
      ),
    )
    .action((_url: string, flags: JoinFlags, command: Command) =>
      cli.run(command, async (call) => {
        const { runtime } = call;
        const { joinMesh } = await runtime.meshAccess();
        const { decodeInviteCode, isInviteCode } = await import('@git-mesh/core');
        const url = command.args.join(' ');
        if (command.args.length > 1 && isInviteCode(url)) {
          // Says what is too much before anything is begun.
          decodeInviteCode(url);
        } else if (command.args.length > 1) {
          throw new UsageError(
            `too many arguments for 'join'. Expected 1 argument but got ${command.args.length}. (a path with spaces goes in quotes; git-mesh help join shows how)`,
          );
        }
        const result = await joinMesh({
          dir: await call.storeDir(),
          env: runtime.env,
          logger: call.logger,
          hostname: runtime.hostname(),
          url: isInviteCode(url) ? url : absoluteRemote(url, runtime.cwd()),
          ...defined({
            machine: flags.machine,
            label: flags.label,
            keyFile: flags.key === undefined ? undefined : resolve(runtime.cwd(), flags.key),
            allowPublic: flags.allowPublic,
            onProgress: call.onProgress,
          }),
        });
        const { membershipView } = await import('../views/membership.js');
        await call.show(result, membershipView('joined'));
        return exitCodes.done;
      }),
    );
}
