import type { CallOptions, Connection, MeshApi } from '@git-mesh/core';
import type { OpenMesh } from '@git-mesh/sync';
import * as samples from './samples.js';

export interface StubMesh extends OpenMesh {
  /** What was asked of it, in order: `startWorker`, `close`, or a use case with its arguments. */
  readonly log: { name: string; args?: unknown; call?: CallOptions }[];
}

/** A mesh that records what it is asked and answers with samples, or as `answers` says. */
export function stubMesh(answers: Partial<MeshApi> = {}): StubMesh {
  const log: StubMesh['log'] = [];
  const noted =
    <Result>(name: keyof MeshApi, sample: Result) =>
    (args: unknown, call: CallOptions): Promise<Result> => {
      log.push({ name, args, call });
      const answer = answers[name] as ((args: unknown, call: CallOptions) => Promise<Result>) | undefined;
      return answer === undefined ? Promise.resolve(sample) : answer(args, call);
    };
  const connection: Connection = { owner: null, agents: new Set() };
  return {
    log,
    api: {
      checkin: noted('checkin', samples.checkinDone),
      agents: noted('agents', samples.agentsResult),
      send: noted('send', samples.sendResult),
      inbox: noted('inbox', samples.inboxResult),
      ack: noted('ack', { preview: false as const, acked: [11], already_acked: [], unknown: [] }),
      sent: noted('sent', samples.sentResult),
      checkout: noted('checkout', { preview: false, agent_id: samples.qa, machine: samples.laptop }),
      unsend: () => Promise.reject(new Error('no tool withdraws a message')),
      trace: () => Promise.reject(new Error('no tool traces a message')),
      mention: () => Promise.resolve({ agents: [] }),
      leave: noted('leave', { preview: false, machine: samples.laptop, agents: [samples.qa] }),
      rotateKey: noted('rotateKey', { preview: true, machine: samples.laptop, key: null, previous: 'SHA256:…' }),
      invite: noted('invite', {
        preview: false,
        machine: samples.laptop,
        key: 'SHA256:x',
        mesh: samples.meshOf,
        code: 'mesh1.x',
        expires_at: samples.laterAt,
      }),
      admit: noted('admit', { preview: false, machine: samples.laptop, key: 'SHA256:x', already: false }),
      revoke: noted('revoke', {
        preview: false,
        machine: samples.laptop,
        key: 'SHA256:x',
        through: { seq: 41, commit: samples.commit },
        binds: 'here' as const,
      }),
      keys: () => Promise.resolve({ machine: samples.laptop, policy: 'open', keys: [], allowed_signers: '' }),
      status: () => {
        log.push({ name: 'status' });
        return answers.status?.() ?? Promise.resolve(samples.statusResult);
      },
      doctor: () => Promise.resolve({ ok: true, problems: [] }),
      maintain: () =>
        Promise.resolve({
          objects: 0,
          packs_before: 0,
          packs_after: 0,
          loose_before: 0,
          loose_after: 0,
          bytes_before: 0,
          bytes_after: 0,
        }),
      audit: async function* () {
        // No tool draws the log.
      },
      log: async function* () {
        // No tool reads the log.
      },
    },
    syncer: {
      round: () => Promise.resolve(),
      summary: () => Promise.resolve(samples.syncOk),
      takeIn: () => Promise.resolve(),
      workerAlive: () => Promise.resolve(true),
      arrival: () => Promise.resolve(),
    },
    startWorker: () => {
      log.push({ name: 'startWorker' });
    },
    syncNow: () => Promise.resolve(samples.syncOk),
    fetchHistory: () => Promise.resolve({ complete: true, fetched: 0, problems: [] }),
    inlineSync: () => Promise.resolve(),
    exportBundle: ({ file }) => Promise.resolve({ file, branches: 0, commits: 0, left_out: [] }),
    importBundle: ({ file }) => Promise.resolve({ file, branches: 0, commits: 0, arrived: 0, rejected: [] }),
    newConnection: () => connection,
    onChange: () => ({ ready: Promise.resolve(), close: () => undefined }),
    inboxOutline: () => Promise.resolve(null),
    close: () => {
      log.push({ name: 'close' });
      return Promise.resolve();
    },
  };
}
