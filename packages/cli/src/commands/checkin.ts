import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { defined } from '../defined.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';
import { collected, wholeNumber } from '../integer-option.js';

interface CheckinFlags {
  role?: string;
  repo?: string;
  cap?: string[];
  status?: string;
  ttl?: number;
  herdrPane?: string;
  dryRun?: boolean;
}

/** As long as a send waits for what it does not know yet. */
const lookBeforeMs = 2000;

export function registerCheckin(program: Command, cli: Cli): void {
  program
    .command('checkin')
    .summary('announce an agent, or renew it')
    .description(
      'Announce an agent on this machine: others see it and can write to it, and its inbox begins. A repeat before it ' +
        'expires extends the same session, and options left out keep their value.',
    )
    .argument('<agent>', "a name for it: letters, digits, '.', '_' and '-'")
    .option('--role <role>', 'what it is here for, as in builder, reviewer, release')
    .option('--repo <repo>', 'the repository it works on')
    .option('--cap <cap>', 'something it can do; may be given several times', collected)
    .option('--status <text>', 'what it is doing now')
    .option(
      '--ttl <seconds>',
      'how long it may be silent before it counts as gone (60 to 86400; default: 3600, for the roles ping and verification 900)',
      wholeNumber,
    )
    .option('--herdr-pane <pane>', 'the Herdr pane to wake when a message arrives')
    .option('--dry-run', 'show what would be announced and change nothing')
    .addHelpText(
      'after',
      examples(
        ['git-mesh checkin builder --role builder --repo shop', 'announce an agent'],
        ['git-mesh checkin builder --status "running the tests"', 'say what it is doing'],
        ['git-mesh checkin release --cap merge --cap deploy --ttl 900', 'with capabilities, for 15 minutes'],
      ),
    )
    .action((agent: string, flags: CheckinFlags, command: Command) =>
      cli.run(command, (call) =>
        call.withMesh(async (mesh, connection) => {
          const input = defined({
            agent_id: agent,
            role: flags.role,
            repo: flags.repo,
            caps: flags.cap,
            status: flags.status,
            ttl_seconds: flags.ttl,
            herdr_pane: flags.herdrPane,
            confirm: flags.dryRun !== true,
          });
          // First what others sent before this session: it shows their freezes, and their old mail stays out of its inbox.
          await call.exchange(mesh, lookBeforeMs);
          let result = await mesh.api.checkin(input, { connection });
          if (!result.preview) {
            await call.exchange(mesh);
            result = { ...result, sync: await mesh.syncer.summary() };
          }
          const { checkinView } = await import('../views/checkin.js');
          await call.show(result, checkinView);
          return exitCodes.done;
        }),
      ),
    );
}
