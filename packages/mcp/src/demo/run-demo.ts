import { tmpdir } from 'node:os';
import { hostProcess } from '../stdio.js';
import { Agent } from './agent.js';
import { shown } from './demo-failure.js';
import { Narrator, type DemoOutput } from './narrator.js';
import { tellStory } from './story.js';
import { createWorkspace } from './workspace.js';

export interface DemoOptions {
  /** The argv that starts `git-mesh mcp`. */
  serverCommand: readonly string[];
  /** The argv prefix of `git-mesh`. */
  cli: readonly string[];
  out: DemoOutput;
  env: Readonly<Record<string, string | undefined>>;
  /** Where its folder is made; the default is the system's place for temporary files. */
  parentDir?: string;
  /** Leaves the folder where it is, and says where that is. */
  keep?: boolean;
}

/**
 * Plays a session between two machines in a temporary folder and checks every step of it. Whatever happens, Ctrl-C too,
 * its servers are ended and its folder is removed, unless it is to be kept. Resolves to false when anything was not as expected.
 */
export async function runDemo({
  serverCommand,
  cli,
  out,
  env,
  parentDir,
  keep = false,
}: DemoOptions): Promise<boolean> {
  const began = performance.now();
  const narrator = new Narrator(out, env);
  const interruption = new AbortController();
  const ignoreSignals = hostProcess.onSignal((signal) => {
    interruption.abort(signal);
  });
  const agents: Agent[] = [];
  try {
    narrator.title(
      'git-mesh: two machines, one git repository, nothing else',
      keep
        ? 'Everything happens in a temporary folder, which is kept for you to look at.'
        : 'Everything happens in a temporary folder that is removed at the end.',
    );
    const workspace = await createWorkspace(parentDir ?? tmpdir(), env);
    try {
      await tellStory({
        narrator,
        workspace,
        cli,
        hire: (machine, agent) => {
          const hired = new Agent({
            machine,
            agent,
            serverCommand,
            cwd: workspace.dir,
            env: workspace.env(machine),
            signal: interruption.signal,
          });
          agents.push(hired);
          return hired;
        },
        signal: interruption.signal,
      });
    } finally {
      await Promise.allSettled(agents.map((agent) => agent.close()));
      if (!keep) await workspace.remove();
    }
    const rest = keep ? `everything is kept in ${workspace.dir}` : 'nothing is left behind';
    narrator.ended(`All as expected, in ${((performance.now() - began) / 1000).toFixed(1)} s; ${rest}.`);
    return true;
  } catch (error) {
    narrator.failed(
      interruption.signal.aborted
        ? keep
          ? 'Interrupted.'
          : 'Interrupted; nothing is left behind.'
        : `Not as expected: ${shown(error)}`,
    );
    if (!interruption.signal.aborted) {
      for (const { machine, log } of agents) if (log !== '') narrator.answer(`the server on ${machine} said:\n${log}`);
    }
    return false;
  } finally {
    ignoreSignals();
  }
}
