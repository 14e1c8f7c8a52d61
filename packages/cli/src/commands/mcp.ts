import type { RunMcpServerOptions } from '@git-mesh/mcp';
import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';
import { portNumber } from '../integer-option.js';

type McpOptions = Omit<RunMcpServerOptions, 'stdin' | 'stdout' | 'host'>;

export function registerMcp(program: Command, cli: Cli): void {
  program
    .command('mcp')
    .summary('run the MCP server for an agent, over stdio or HTTP')
    .description(
      'Serve the mesh to an agent over stdin and stdout (Model Context Protocol). Ends when stdin closes. Agents start ' +
        'it themselves; a person only adds it to their configuration, as git-mesh setup does. With --http it serves any number of clients until ' +
        'it is told to end, and prints the address and a token for them on stderr.',
    )
    .addHelpText(
      'after',
      examples(
        ['claude mcp add --scope user mesh -- git-mesh mcp', 'add it to Claude Code'],
        ['codex mcp add mesh -- git-mesh mcp', 'add it to Codex'],
        ['gemini mcp add -s user mesh git-mesh mcp', 'add it to Gemini CLI'],
      ),
    )
    .option(
      '--http <port>',
      'serve any number of clients over HTTP on 127.0.0.1 instead; 0 for any free port',
      portNumber,
    )
    .action((flags: { http?: number }, command: Command) =>
      cli.run(
        command,
        async (call) => {
          const { runtime } = call;
          const options: McpOptions = {
            dir: await call.storeDir(),
            env: runtime.env,
            logger: call.logger,
            version: runtime.version,
            openMesh: async (options) => {
              const mesh = await (await runtime.meshAccess()).openMesh(options);
              // Not before the first call: a server that is only looked at writes nothing.
              runtime.keepCode();
              return mesh;
            },
            setup: () => runtime.meshAccess(),
            hostname: runtime.hostname(),
          };
          if (flags.http === undefined) {
            const { runMcpServer } = await import('@git-mesh/mcp');
            await runMcpServer({ ...options, stdin: runtime.stdin(), stdout: runtime.rawStdout() });
          } else {
            const { runMcpHttp } = await import('@git-mesh/mcp/http');
            await runMcpHttp({ ...options, port: flags.http, announce: (text) => runtime.stderr.write(text) });
          }
          return exitCodes.done;
        },
        { noisy: true },
      ),
    );
}
