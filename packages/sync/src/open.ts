import { join } from 'node:path';
import { Branches, Store, agentKey, inboxOutline, mendStore, meshApi, ownIdentity, parseAgentId } from '@git-mesh/core';
import type { Connection, MeshContext, Syncer } from '@git-mesh/core';
import { exportBundle } from './bundle/export.js';
import { importBundle } from './bundle/import.js';
import type { OpenMesh, OpenOptions } from './contract.js';
import { remoteLocks } from './remote-locks.js';
import { openRemotes } from './remotes.js';
import { RemoteStates } from './remote-states.js';
import { takeInAdmitted } from './round.js';
import { Rounds } from './rounds.js';
import { clock, random } from './system.js';
import { syncFacts, syncSummary } from './sync-facts.js';
import { arrivalOf } from './arrival.js';
import { storeWatch } from './store-watch.js';
import { sweepLeftovers } from './sweep-leftovers.js';
import { wholeHistory } from './whole-history.js';
import { Wake } from './wake.js';
import { within } from './within.js';
import { Worker } from './worker.js';
import { readWorker } from './worker-file.js';

const syncNowLimitMs = 25_000;
/** How long a person's sync goes on with a backlog that a round has no time for, as long as it gets on. */
const backlogLimitMs = 10 * 60_000;

/**
 * Opens a store with its synchronisation wired in, and mends what a power cut did to it. Starts nothing: no worker, no
 * network; and takes the lock only where there is something to mend.
 */
export async function openMesh(options: OpenOptions): Promise<OpenMesh> {
  const { dir, env, logger } = options;
  const store = await Store.open(dir, { clock, random, logger });
  await mendStore(store);
  const states = new RemoteStates(store.local);
  const closed = new AbortController();

  const syncer: Syncer = {
    // A round that another caller began may take longer than this one wants to wait.
    round: ({ deadlineMs }) => within(rounds.run({ deadlineMs, ignoreBackoff: false }), deadlineMs, closed.signal),
    summary: async () => {
      await rounds.refresh();
      return syncSummary(mesh, states);
    },
    takeIn: () => takeInAdmitted({ mesh, onJournaled }),
    workerAlive: async () => (await readWorker(dir)) !== null,
    arrival: (wait) => arrivalOf({ journal: store.journal, logger, closed: closed.signal, ...wait }),
  };
  const mesh: MeshContext = {
    store,
    branches: new Branches(store),
    clock,
    random,
    syncer,
    logger,
    platform: process.platform,
  };
  const wake = new Wake({ mesh, env, logger });
  const onJournaled = (): void => {
    wake.look();
  };
  const rounds = await Rounds.open({
    mesh,
    states,
    logger,
    random: () => Math.random(),
    onJournaled,
    open: (remotes) => openRemotes({ remotes, stateDir: join(dir, 'mesh'), env }),
    closed: closed.signal,
  });
  const worker = new Worker({ mesh, rounds, logger });
  const identity = await ownIdentity();
  let swept = false;

  return {
    api: meshApi(
      mesh,
      async () => {
        await rounds.refresh();
        return syncFacts(mesh, states);
      },
      () => remoteLocks(mesh, rounds.remotes),
    ),
    syncer,
    startWorker: () => {
      worker.start();
    },
    syncNow: async (wanted = {}) => {
      if (!swept) await sweepLeftovers(store, logger);
      swept = true;
      const until = performance.now() + backlogLimitMs;
      let names = wanted.remotes;
      do {
        const all = rounds.run({ deadlineMs: syncNowLimitMs, ignoreBackoff: true }, names);
        await within(all, 2 * syncNowLimitMs, wanted.signal);
        names = rounds.remotes.filter((remote) => rounds.isUnfinished(remote)).map(({ name }) => name);
      } while (names.length > 0 && performance.now() < until && wanted.signal?.aborted !== true);
      return syncer.summary();
    },
    fetchHistory: async (wanted = {}) => {
      await rounds.refresh();
      return wholeHistory(mesh, rounds.remotes, wanted);
    },
    inlineSync: async ({ deadlineMs }) => {
      if (!(await syncer.workerAlive())) await syncer.round({ deadlineMs });
    },
    exportBundle: (wanted) => exportBundle(mesh, wanted),
    importBundle: (wanted) => importBundle({ mesh, states, onJournaled }, wanted),
    newConnection: ({ resident }): Connection => ({ owner: resident ? identity : null, agents: new Set() }),
    onChange: (listener) => storeWatch({ store, listener, closed: closed.signal, logger }),
    inboxOutline: async (agentId) => inboxOutline(mesh, agentKey(parseAgentId(agentId))),
    close: async () => {
      closed.abort();
      await worker.stop();
      await rounds.idle();
      await wake.idle();
    },
  };
}
