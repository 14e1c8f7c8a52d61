import type { Command } from 'commander';
import type { Cli } from '../cli.js';
import { exitCodes } from '../exit-code.js';
import { examples } from '../help-text.js';

export function registerMcp(program: Command, cli: Cli): void {
  program
    .command('mcp')
    .summary('run the MCP server for an agent, over stdio')
    .description(
      'Serve the mesh to an agent over stdin and stdout (Model Context Protocol). Ends when stdin closes. Agents start ' +
        'it themselves; a person only adds it to their configuration.',
    )
    .addHelpText(
      'after',
      examples(
        ['claude mcp add --scope user mesh -- git-mesh mcp', 'add it to Claude Code'],
        ['codex mcp add mesh -- git-mesh mcp', 'add it to Codex'],
        ['gemini mcp add -s user mesh git-mesh mcp', 'add it to Gemini CLI'],
      ),
    )
    .action((_flags: unknown, command: Command) =>
      cli.run(
        command,
        async (call) => {
          const { runtime } = call;
          const { runMcpServer } = await import('@git-mesh/mcp');
          await runMcpServer({
            dir: await call.storeDir(),
            env: runtime.env,
            logger: call.logger,
            stdin: runtime.stdin(),
            stdout: runtime.rawStdout(),
            version: runtime.version,
            openMesh: async (options) => (await runtime.meshAccess()).openMesh(options),
            setup: () => runtime.meshAccess(),
            hostname: runtime.hostname(),
          });
          return exitCodes.done;
        },
        { noisy: true },
      ),
    );
}
