import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { InboxResult, SendResult } from '@git-mesh/core';
import { initMesh, joinMesh } from '@git-mesh/sync';
import { silentLogger } from '@git-mesh/core';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { cleanEnvironment, launcher } from '../environment.js';
import type { WakeRemotes } from './wake-remote.js';

/** An agent's client with a server process of its own, which is the worker of a machine of its own. */
class Agent {
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  static async start(root: string, handle: string, remotes: WakeRemotes): Promise<Agent> {
    const home = join(root, handle);
    mkdirSync(home);
    const store = join(home, 'store');
    const env = cleanEnvironment(home, { ...remotes.env, GIT_MESH_DIR: store });
    const membership = { dir: store, env, logger: silentLogger, hostname: handle, machine: handle, allowPublic: true };
    if (handle === 'studio') await initMesh({ ...membership, remote: remotes.mesh });
    else await joinMesh({ ...membership, url: remotes.mesh });
    const client = new Client({ name: 'bench', version: '1.0.0' });
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [launcher, 'mcp'],
        env,
        cwd: home,
        stderr: 'ignore',
      }),
    );
    const agent = new Agent(client);
    await agent.call('agent_checkin', { agent_id: handle, ttl_seconds: 3600, confirm: true });
    return agent;
  }

  async call(name: string, args: Record<string, unknown>): Promise<unknown> {
    const { isError, structuredContent, content } = await this.#client.callTool({ name, arguments: args });
    if (isError === true) throw new Error(`${name} was refused: ${JSON.stringify(content)}`);
    return structuredContent;
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}

/** Two machines, each with a resident server, one of which waits in `agent_inbox` for what the other sends. */
export class WakeMesh {
  readonly #studio: Agent;
  readonly #laptop: Agent;
  #after = 0;

  private constructor(studio: Agent, laptop: Agent) {
    this.#studio = studio;
    this.#laptop = laptop;
  }

  static async start(root: string, remotes: WakeRemotes): Promise<WakeMesh> {
    const studio = await Agent.start(root, 'studio', remotes);
    return new WakeMesh(studio, await Agent.start(root, 'laptop', remotes));
  }

  /** Lets `rest` pass with the call open, then sends. Milliseconds from the answer of agent_send to that of agent_inbox. */
  async wake(rest: () => Promise<void>): Promise<number> {
    let woken = 0;
    const waiting = this.#next().then((result) => {
      woken = performance.now();
      return result;
    });
    await rest();
    // The client has checked it against the tool's output schema.
    const { id } = (await this.#studio.call('agent_send', { to: 'laptop', msg_type: 'note' })) as SendResult;
    const accepted = performance.now();
    const last = (await waiting).messages.at(-1);
    if (last?.id !== id) throw new Error(`the waiting call returned ${last?.id ?? 'nothing'} where ${id} was sent`);
    this.#after = last.message_id;
    return woken - accepted;
  }

  async #next(): Promise<InboxResult> {
    const args = { agent_id: 'laptop', wait_seconds: 45, after: this.#after };
    return (await this.#laptop.call('agent_inbox', args)) as InboxResult;
  }

  async close(): Promise<void> {
    await Promise.all([this.#studio.close(), this.#laptop.close()]);
  }
}
