import { Option, type Command } from 'commander';
import type { Cli } from '../cli.js';
import { defined } from '../defined.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';
import { wholeNumber } from '../integer-option.js';
import { messageReference } from '../message-reference.js';
import { sentState } from '../sent-state.js';
import { readPayload, type PayloadFlags } from '../payload-source.js';

interface SendFlags extends PayloadFlags {
  toAgent?: string;
  from?: string;
  replyTo?: string;
  ttl?: number;
  key?: string;
  allowSecret?: boolean;
}

export function registerSend(program: Command, cli: Cli): void {
  program
    .command('send')
    .summary('send a message')
    .description(
      'Send a message to a machine, to one agent there, or to all machines. It is stored on this disk before the ' +
        'command ends, and goes out when the remote can be reached.',
    )
    .argument('<to>', "a machine's handle, or * for every machine (quote it)")
    .argument('<type>', 'ping, pr-ready, freeze, freeze-clear, release-out, handoff or note')
    .option('--to-agent <agent>', 'only for this agent of that machine')
    .option('--from <agent>', 'the agent that sends')
    .addOption(new Option('--payload <json>', 'the payload, a JSON object').conflicts(['payloadFile', 'message']))
    .addOption(new Option('--payload-file <file>', 'the payload from a file, - for stdin').conflicts('message'))
    .option('--message <text>', 'the payload {"message": <text>}; of the three ways at most one')
    .option('--reply-to <id>', 'the message this answers: its number here or its ULID')
    .option('--ttl <seconds>', 'how long it lives (60 to 2592000; default: a week, a freeze a day)', wholeNumber)
    .option('--key <key>', 'a name for the message: sends nothing where this agent sent one under it that still lives')
    .option('--allow-secret', 'send it though something in it looks like a credential')
    .addHelpText(
      'after',
      examples(
        ['git-mesh send laptop note --from builder --message "PR 12 is ready"', 'to every agent on laptop'],
        ['git-mesh send laptop handoff --to-agent qa --payload \'{"branch":"fix-1"}\'', 'to one agent'],
        ['git-mesh send "*" freeze --from release --payload \'{"repo":"shop"}\'', 'hold merges everywhere'],
      ),
    )
    .action((to: string, type: string, flags: SendFlags, command: Command) =>
      cli.run(command, async (call) => {
        const { runtime } = call;
        const payload = await readPayload(flags, { stdin: () => runtime.stdin(), cwd: () => runtime.cwd() });
        const input = defined({
          to,
          msg_type: type,
          to_agent: flags.toAgent,
          from_agent: flags.from,
          payload,
          in_reply_to: flags.replyTo === undefined ? undefined : messageReference(flags.replyTo),
          ttl_seconds: flags.ttl,
          key: flags.key,
          allow_secret: flags.allowSecret,
        });
        return call.withMesh(async (mesh, connection) => {
          const stored = await mesh.api.send(input, { connection });
          await call.exchange(mesh);
          const result = { ...stored, state: await sentState(mesh, connection, stored) };
          const { sendView } = await import('../views/send.js');
          await call.show(result, sendView(await mesh.syncer.summary()));
          return exitCodes.done;
        });
      }),
    );
}
