import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { CallOptions, Connection, MeshApi } from '../api.js';
import type { Handle } from '../domain/ids.js';
import { branchRef, charterRef } from '../domain/layout.js';
import type { CheckinDone } from '../domain/results.js';
import type { Syncer } from '../domain/syncer.js';
import { silentLogger } from '../logger.js';
import { arrivalsOf, journalOwnBranch } from '../mesh/arrivals.js';
import { Branches } from '../mesh/branches.js';
import type { MeshContext } from '../mesh/context.js';
import { commitMachine, foundCharter } from '../mesh/founding.js';
import { meshApi } from '../mesh/mesh-api.js';
import type { ProcessIdentity } from '../store/ports.js';
import { Store } from '../store/store.js';
import { git } from './git.js';
import { manualClock } from './manual-clock.js';
import type { ManualClock } from './manual-clock.js';
import { storeConfig, temporaryFolder } from './store-fixture.js';

/** One machine of a {@link TestMesh}: a real store, the use cases over it, and a synchronisation that the test plays. */
export class TestMachine {
  readonly store: Store;
  readonly ctx: MeshContext;
  readonly api: MeshApi;
  readonly clock: ManualClock;
  /** Called instead of a round. */
  onRound: () => Promise<void> = () => Promise.resolve();
  /** Called instead of waiting for an arrival, with the time that would be waited. */
  onArrival: (timeoutMs: number) => Promise<void>;

  constructor(store: Store, clock: ManualClock) {
    this.store = store;
    this.clock = clock;
    this.onArrival = (timeoutMs) => {
      clock.advance(timeoutMs);
      return Promise.resolve();
    };
    const syncer: Syncer = {
      round: () => this.onRound(),
      summary: () => Promise.resolve({ state: 'none', last_ok_at: null, queued: 0, error: null }),
      takeIn: () => Promise.resolve(),
      workerAlive: () => Promise.resolve(false),
      arrival: ({ timeoutMs }) => this.onArrival(timeoutMs),
    };
    this.ctx = {
      store,
      branches: new Branches(store),
      clock,
      random: (length) => randomBytes(length),
      syncer,
      logger: silentLogger,
      platform: 'linux',
    };
    this.api = meshApi(
      this.ctx,
      () => Promise.resolve({ worker: null, remotes: [], problems: [] }),
      () => Promise.resolve([]),
    );
  }

  get handle(): Handle {
    return this.store.config.handle;
  }

  /** A call over a connection of its own, or over `agents`' connection. */
  call(
    options: { agents?: readonly string[]; owner?: ProcessIdentity } = {},
  ): CallOptions & { connection: Connection } {
    return { connection: { owner: options.owner ?? null, agents: new Set(options.agents) } };
  }

  async checkin(agent: string, extra: object = {}, call: CallOptions = this.call()): Promise<CheckinDone> {
    const result = await this.api.checkin({ agent_id: agent, confirm: true, ...extra }, call);
    if (result.preview) throw new Error('a confirmed check-in gave a preview');
    return result;
  }

  /** Runs stock git in the store. */
  git(...args: string[]): Promise<string> {
    return git(this.store.dir, ...args);
  }

  /** Subjects of the own branch's commits, oldest first. */
  async subjects(): Promise<string[]> {
    return (await this.git('log', '--reverse', '--format=%s', this.store.branch)).split('\n');
  }

  async tip(): Promise<string> {
    return this.git('rev-parse', this.store.branch);
  }

  /** Another process: the same folder opened anew, with nothing in memory. */
  async reopened(): Promise<TestMachine> {
    const { clock } = this;
    const deps = { clock, random: this.ctx.random, logger: silentLogger };
    return new TestMachine(await Store.open(this.store.dir, deps), clock);
  }

  /** Takes in another machine's branch as it is now, as a round would, and gives what arrived its numbers. */
  async receive(from: TestMachine): Promise<void> {
    const ref = branchRef(from.store.config.ref_prefix, from.handle);
    await this.git('fetch', '--quiet', from.store.dir, `+${ref}:${ref}`);
    await this.store.withLock(async () => {
      const now = this.clock.now();
      await journalOwnBranch(this.store, await this.ctx.branches.ownBranch(), now);
      const branch = await this.ctx.branches.get(from.handle);
      if (branch === null) throw new Error(`${from.handle} has no branch`);
      const entries = await arrivalsOf(this.store, branch, await this.store.journal.view(), now);
      if (entries.length > 0) await this.store.journal.append(entries, { durable: true });
    });
  }
}

export interface TestMesh {
  clock: ManualClock;
  machines: TestMachine[];
  /** Each takes in each other's branch, until nothing moves. */
  exchange: () => Promise<void>;
  remove: () => Promise<void>;
}

/** Machines of one mesh in a temporary folder, all on one manual clock. The first one founds it. */
export async function testMesh(...handles: string[]): Promise<TestMesh> {
  const folder = await temporaryFolder();
  const clock = manualClock();
  const machines: TestMachine[] = [];
  for (const handle of handles) {
    const deps = { clock, random: (length: number) => randomBytes(length), logger: silentLogger };
    const draft = await Store.create(join(folder.path, handle), { config: storeConfig(handle) }, deps);
    const machine = new TestMachine(await draft.publish(), clock);
    const { store } = machine;
    const [founder] = machines;
    const charter = charterRef(store.config.ref_prefix);
    if (founder === undefined) await foundCharter(store, clock.now());
    else await machine.git('fetch', '--quiet', founder.store.dir, `${charter}:${charter}`);
    await store.withLock(async () => {
      await commitMachine(store, clock.now());
      await journalOwnBranch(store, await machine.ctx.branches.ownBranch(), clock.now());
    });
    machines.push(machine);
  }
  const exchange = async (): Promise<void> => {
    for (const to of machines) for (const from of machines) if (from !== to) await to.receive(from);
  };
  await exchange();
  return { clock, machines, exchange, remove: folder.remove };
}
