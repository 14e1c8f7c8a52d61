import { randomBytes } from 'node:crypto';
import {
  Branches,
  Store,
  encodeCommit,
  formatCommitMessage,
  isOid,
  meshApi,
  silentLogger,
  toIso,
} from '@git-mesh/core';
import type {
  CallOptions,
  Clock,
  CommitEvent,
  Logger,
  MeshApi,
  MeshContext,
  Oid,
  RefName,
  StatusResult,
  SyncFacts,
} from '@git-mesh/core';
import { initMesh } from '../init.js';
import { joinMesh } from '../join.js';
import type { Remote } from '../remote-context.js';
import { remoteLocks } from '../remote-locks.js';
import { RemoteStates } from '../remote-states.js';
import { openRemotes } from '../remotes.js';
import { round, takeInAdmitted } from '../round.js';
import { syncFacts, syncSummary } from '../sync-facts.js';
import { GitFixture } from './git-fixture.js';

/** A store and its rounds, which the test calls for. Each is what one process holds. */
export class Peer {
  readonly store: Store;
  readonly mesh: MeshContext;
  readonly api: MeshApi;
  readonly remotes: Remote[];
  readonly states: RemoteStates;
  readonly clock: Clock;
  readonly #git: GitFixture;

  private constructor(git: GitFixture, store: Store, remotes: Remote[], deps: { clock: Clock; logger: Logger }) {
    this.#git = git;
    this.store = store;
    this.remotes = remotes;
    this.clock = deps.clock;
    this.states = new RemoteStates(store.local);
    this.mesh = {
      store,
      branches: new Branches(store),
      clock: deps.clock,
      random: (length) => randomBytes(length),
      logger: deps.logger,
      platform: process.platform,
      syncer: {
        round: async () => {
          await this.sync();
        },
        summary: () => syncSummary(this.mesh, this.states),
        takeIn: () => takeInAdmitted({ mesh: this.mesh }),
        workerAlive: () => Promise.resolve(false),
        arrival: () => Promise.resolve(),
      },
    };
    this.api = meshApi(
      this.mesh,
      () => this.facts(),
      () => remoteLocks(this.mesh, this.remotes),
    );
  }

  static async open(
    git: GitFixture,
    dir: string,
    options: { clock?: Clock; env?: Record<string, string | undefined>; logger?: Logger } = {},
  ): Promise<Peer> {
    const clock = options.clock ?? { now: () => Date.now() };
    const logger = options.logger ?? silentLogger;
    const store = await Store.open(dir, { clock, logger, random: (length) => randomBytes(length) });
    const remotes = await openRemotes({
      remotes: store.config.remotes,
      stateDir: git.path(`state-${store.config.handle}`),
      env: options.env ?? process.env,
    });
    return new Peer(git, store, remotes, { clock, logger });
  }

  get handle(): string {
    return this.store.config.handle;
  }

  call(): CallOptions {
    return { connection: { owner: null, agents: new Set() } };
  }

  facts(): Promise<SyncFacts> {
    return syncFacts(this.mesh, this.states);
  }

  status(): Promise<StatusResult> {
    return this.api.status();
  }

  /** One round with every remote. */
  sync(options: { deadlineMs?: number; ignoreBackoff?: boolean; signal?: AbortSignal } = {}): Promise<void> {
    const { mesh, remotes, states } = this;
    const deps = { mesh, remotes, states, logger: mesh.logger, random: () => 0.5 };
    return round(deps, { deadlineMs: 20_000, ignoreBackoff: true, ...options });
  }

  git(...args: string[]): string {
    return this.#git.git(['-C', this.store.dir, ...args]);
  }

  tip(): Oid {
    return asOid(this.git('rev-parse', this.store.branch));
  }

  /** The tip of another machine's branch that is accepted here; null where there is none. */
  async accepted(handle: string): Promise<Oid | null> {
    return this.store.refs.read(`${this.store.config.ref_prefix}${handle}` as RefName);
  }

  async checkin(agent: string): Promise<void> {
    await this.api.checkin({ agent_id: agent, confirm: true }, this.call());
  }

  async send(to: string, n: unknown, extra: object = {}): Promise<number> {
    const input = { to, msg_type: 'note', payload: { n }, ...extra };
    return (await this.api.send(input, this.call())).message_id;
  }

  async inbox(agent: string): Promise<unknown[]> {
    const { messages } = await this.api.inbox({ agent_id: agent, limit: 100 }, this.call());
    return messages.map((message) => message.payload['n']);
  }

  /**
   * A commit object in the store, on no ref, made as this machine makes them but for what `change` says.
   * @param change.sign false leaves the signature out; a peer signs with that peer's key
   */
  async forge(change: {
    parents?: readonly Oid[];
    seq?: number;
    tree?: Oid;
    sign?: boolean | Peer;
    message?: string;
  }): Promise<Oid> {
    const { store } = this;
    const branch = await this.mesh.branches.ownBranch();
    const person = { name: this.handle, email: `${this.handle}@mesh.invalid`, at: this.clock.now() };
    const event: CommitEvent = {
      event: 'renew',
      agent: null,
      seq: change.seq ?? branch.seq + 1,
      journal: branch.journal,
      messages: [],
      read: [],
      summary: `forged at ${toIso(this.clock.now())}`,
    };
    const parts = {
      tree: change.tree ?? branch.tree,
      parents: [...(change.parents ?? [branch.tip])],
      author: person,
      committer: person,
      message: change.message ?? formatCommitMessage(event),
    };
    const signer = change.sign instanceof Peer ? change.sign.store.signer : store.signer;
    const gpgsig = change.sign === false ? null : signer.sign(encodeCommit({ ...parts, gpgsig: null }));
    const [oid] = await store.objects.write([{ type: 'commit', data: encodeCommit({ ...parts, gpgsig }) }]);
    if (oid === undefined) throw new Error('nothing was written');
    return oid;
  }

  /** A tree like the own branch's with one file in place of another, or more. */
  treeWith(path: string, content: string): Oid {
    const blob = this.#git.git(['-C', this.store.dir, 'hash-object', '-w', '--stdin'], content);
    const lines = this.git('ls-tree', this.store.branch)
      .split('\n')
      .filter((line) => !line.endsWith(`\t${path}`));
    return asOid(
      this.#git.git(['-C', this.store.dir, 'mktree'], [...lines, `100644 blob ${blob}\t${path}`, ''].join('\n')),
    );
  }

  /** Puts a commit on the machine's branch of the remote, whatever is there. */
  forcePush(remote: string, oid: Oid): void {
    this.git('push', '--quiet', '--force', remote, `${oid}:${this.store.branch}`);
  }
}

export interface RemoteMesh {
  git: GitFixture;
  /** The bare repository between the machines. */
  remote: string;
  peers: Peer[];
  remove: () => void;
}

/** Machines that found and join a mesh through a real bare repository. */
export async function remoteMesh(
  handles: readonly string[],
  options: { clock?: Clock; policy?: 'open' | 'roster' } = {},
): Promise<RemoteMesh> {
  const git = new GitFixture();
  const remote = git.bare('remote.git');
  const peers: Peer[] = [];
  for (const machine of handles) {
    const setup = { dir: git.path(machine), env: process.env, logger: silentLogger, machine, hostname: machine };
    if (peers.length === 0) await initMesh({ ...setup, remote, policy: options.policy ?? 'open' });
    else await joinMesh({ ...setup, url: remote });
    peers.push(await Peer.open(git, setup.dir, options));
  }
  return {
    git,
    remote,
    peers,
    remove: () => {
      git.remove();
    },
  };
}

/** Rounds at every peer until nothing moves any more. */
export async function settle(peers: readonly Peer[]): Promise<void> {
  for (let rounds = 0; ; rounds++) {
    if (rounds > 10) throw new Error('the mesh does not come to rest');
    const before = peers.map((peer) => peer.tip()).join();
    for (const peer of peers) await peer.sync();
    if (rounds > 0 && peers.map((peer) => peer.tip()).join() === before) return;
  }
}

function asOid(text: string): Oid {
  if (!isOid(text)) throw new Error(`git printed no object id: ${text}`);
  return text;
}
