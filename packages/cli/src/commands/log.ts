import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { defined } from '../defined.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';
import { wholeNumber } from '../integer-option.js';
import { jsonLine } from '../json-text.js';
import { messageReference } from '../message-reference.js';
import { plainResult } from '../plain-text.js';

interface LogFlags {
  agent?: string;
  machine?: string;
  repo?: string;
  type?: string;
  since?: string;
  until?: string;
  grep?: string;
  message?: string;
  unacked?: boolean;
  limit?: number;
  html?: string;
}

export function registerLog(program: Command, cli: Cli): void {
  program
    .command('log')
    .summary('what happened, newest first')
    .description('The audit log of the whole mesh as this machine knows it, one line an event.')
    .option('--agent <agent>', 'only what this agent did')
    .option('--machine <handle>', 'only what the machine of this handle did')
    .option('--repo <repo>', 'only what concerns this repository')
    .option('--type <type>', 'only messages of this type')
    .option('--since <time>', 'only from this time on: an age (15m, 2h, 3d), a date or a time')
    .option('--until <time>', 'only up to this time, likewise')
    .option('--grep <text>', 'only events whose line has this text')
    .option('--message <id>', 'only what concerns this message (its number here or its ULID)')
    .option('--unacked', 'only messages that nobody they were for acknowledged')
    .option('--limit <n>', 'at most this many (default: all)', wholeNumber)
    .option('--html <file>', 'write a page with a timeline instead, which opens without a network')
    .addHelpText(
      'after',
      examples(
        ['git-mesh log --limit 20', 'the last 20 events'],
        ['git-mesh log --machine laptop --since 2h', 'what laptop did in the last two hours'],
        ['git-mesh log --unacked', 'messages still unread'],
        ['git-mesh log --message 12', 'all commits that name message 12'],
        ['git-mesh log --json', 'one JSON document a line'],
        ['git-mesh log --since 1w --html week.html', 'a page to look at, search and keep'],
      ),
    )
    .action((flags: LogFlags, command: Command) =>
      cli.run(command, (call) =>
        call.withMesh(async (mesh) => {
          const { agent, machine, repo, type, since, until, grep, unacked, limit } = flags;
          const message = flags.message === undefined ? undefined : messageReference(flags.message);
          const cut = new Set<string>();
          const input = defined({ agent, machine, repo, type, since, until, grep, message, unacked, limit });
          const onEdge = ({ machine: handle }: { machine: string }): void => void cut.add(handle);
          if (flags.html !== undefined) {
            const { writeAuditPage } = await import('../audit-page/write-page.js');
            const result = await writeAuditPage(call, mesh, {
              file: flags.html,
              events: mesh.api.audit(input, { onEdge }),
            });
            const { auditPageView } = await import('../views/audit-page.js');
            await call.show(result, auditPageView);
            return exitCodes.done;
          }
          const events = mesh.api.log(input, { onEdge });
          const { logLines } = await import('../views/log.js');
          const tell = logLines(await call.viewContext());
          const { stdout } = call.runtime;
          let shown = 0;
          for await (const event of events) {
            const line = (): string => `${call.shown(tell(plainResult(event)))}\n`;
            await stdout.write(call.globals.json === true ? jsonLine(event) : line());
            shown += 1;
            // Nobody reads on (`| head`): the rest of the history need not be walked.
            if (stdout.closed) break;
          }
          if (cut.size > 0 && shown !== limit && !stdout.closed) {
            const { endsHere } = await import('../views/history.js');
            await call.warn(endsHere([...cut].sort()));
          }
          return exitCodes.done;
        }),
      ),
    );
}
