import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Store, silentLogger } from '@git-mesh/core';
import { bareRemote, stockGit } from '../stock-git.js';
import { rivalCrowd } from './crowd-rival.js';
import { quantile } from './measure.js';
import { addResident, type Resident } from './resident.js';

/** Each machine sends so many messages, to all. */
export const messagesEach = 10;
const limitMs = 180_000;

/** What a crowd came to; times in milliseconds from when a message was accepted where it was sent. */
export interface Crowd {
  who: string;
  machines: number;
  /** Until all messages were everywhere; null where the time ran out. */
  allMs: number | null;
  /** Pushes begun, those that were refused too, for each message. */
  pushesAMessage: number;
  /** To be on the remote: each message. */
  toRemote: readonly number[];
  /** To be with one other machine: each message and machine. */
  toDelivered: readonly number[];
  /** Of the messages and machines, those that came in time. */
  delivered: number;
}

/** Machines that each send at once, with a worker each, against stock git on one shared branch. */
export async function measureCrowd(
  dir: string,
  machines: number,
  onProgress: (line: string) => void,
): Promise<Crowd[]> {
  onProgress(`a crowd of ${machines}`);
  const ours = await ourCrowd(mkdtempSync(join(dir, 'crowd-')), machines);
  const rivals: Crowd[] = [];
  for (const isBatched of [true, false]) {
    onProgress(`stock git, a crowd of ${machines}, ${isBatched ? 'all in one push' : 'a push each'}`);
    rivals.push(await rivalCrowd(mkdtempSync(join(dir, 'crowd-git-')), { machines, isBatched, limitMs }));
  }
  return [ours, ...rivals];
}

async function ourCrowd(root: string, machines: number): Promise<Crowd> {
  const remote = bareRemote(root);
  const pushed = notePushes(remote);
  const members = await gather(root, remote, machines);
  const sentAt = new Map<string, number>();
  for (const { mesh } of members) mesh.startWorker();
  // Every worker has looked before it starts: what is measured is a mesh at work.
  for (const { mesh } of members) await mesh.syncNow();
  const before = pushed().length;
  const started = Date.now();
  await Promise.all(
    members.flatMap(({ mesh, connection }) =>
      Array.from({ length: messagesEach }, async (_, n) => {
        const payload = { repo: 'shop', branch: `feature/${n}` };
        const { id } = await mesh.api.send({ to: '*', msg_type: 'note', payload }, { connection });
        sentAt.set(id, Date.now());
      }),
    ),
  );
  const wanted = sentAt.size * (machines - 1);
  const journals = await Promise.all(members.map(({ store }) => openJournal(store)));
  let arrived: Arrival[] = [];
  while (arrived.length < wanted && Date.now() - started < limitMs) {
    await pause(250);
    arrived = await arrivalsAt(journals, members, sentAt);
  }
  const last = Math.max(...arrived.map(({ at }) => at));
  // The receipts and the rest of the pushes are part of the work.
  for (const { mesh } of members) await mesh.close();
  const events = pushed().slice(before);
  return {
    who: 'git-mesh, a worker each',
    machines,
    allMs: arrived.length < wanted ? null : last - started,
    pushesAMessage: events.length / sentAt.size,
    toRemote: toRemote(remote, members, { events, sentAt }),
    toDelivered: arrived.map(({ ms }) => ms),
    delivered: arrived.length / wanted,
  };
}

async function gather(root: string, remote: string, machines: number): Promise<Resident[]> {
  const members: Resident[] = [];
  for (let n = 0; n < machines; n++) {
    members.push(await addResident(root, { remote, handle: `m${n}`, isFirst: n === 0 }));
  }
  return members;
}

type Journal = Store['journal'];

async function openJournal(dir: string): Promise<Journal> {
  const clock = { now: () => Date.now() };
  return (await Store.open(dir, { clock, random: randomBytes, logger: silentLogger })).journal;
}

interface Arrival {
  at: number;
  /** Since it was accepted where it was sent. */
  ms: number;
}

/** Each message at each other machine that has it. */
async function arrivalsAt(
  journals: readonly Journal[],
  members: readonly Resident[],
  sentAt: ReadonlyMap<string, number>,
): Promise<Arrival[]> {
  const views = await Promise.all(journals.map((journal) => journal.view()));
  return views.flatMap(({ messages }, index) =>
    messages.flatMap(({ id, sender, at: iso }) => {
      const sent = sentAt.get(id);
      const at = Date.parse(iso);
      return sent === undefined || sender === members[index]?.handle ? [] : [{ at, ms: Math.max(0, at - sent) }];
    }),
  );
}

/** A push that the remote took: when, and what it moved a branch to. */
export interface PushEvent {
  at: number;
  tip: string;
  ref: string;
}

/** Has the repository note each push with a hook, which costs whoever pushes the same. */
export function notePushes(remote: string): () => PushEvent[] {
  const log = join(remote, 'pushes');
  writeFileSync(log, '');
  const hook = join(remote, 'hooks', 'post-receive');
  writeFileSync(hook, '#!/bin/sh\nwhile read old new ref; do echo "$(date +%s%3N) $new $ref" >> pushes; done\n');
  chmodSync(hook, 0o755);
  return () =>
    readFileSync(log, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const [at = '', tip = '', ref = ''] = line.split(' ');
        return { at: Number(at), tip, ref };
      });
}

function toRemote(
  remote: string,
  members: readonly Resident[],
  { events, sentAt }: { events: readonly PushEvent[]; sentAt: ReadonlyMap<string, number> },
): number[] {
  const times: number[] = [];
  for (const { handle } of members) {
    const ref = `refs/heads/mesh/${handle}`;
    const format = '--format=%H %(trailers:key=Mesh-Message,valueonly,separator=%x2C)';
    const commits = stockGit(['log', '--reverse', format, ref], { cwd: remote }).split('\n');
    const pushes = events.filter((event) => event.ref === ref);
    let next = 0;
    let covered = commits.findIndex((line) => line.startsWith(pushes[0]?.tip ?? '?'));
    for (const [index, line] of commits.entries()) {
      const sent = sentAt.get(line.slice(41));
      if (sent === undefined) continue;
      while (index > covered && next < pushes.length - 1) {
        next += 1;
        const { tip = '' } = pushes[next] ?? {};
        covered = commits.findIndex((each) => each.startsWith(tip));
      }
      const { at = NaN } = pushes[next] ?? {};
      if (index <= covered) times.push(Math.max(0, at - sent));
    }
  }
  return times;
}

export function crowdTable(crowds: readonly Crowd[]): string {
  const s = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;
  const rows = crowds.map((crowd) => {
    const { who, machines, allMs, pushesAMessage, toRemote: remote, toDelivered, delivered } = crowd;
    const part = (values: readonly number[], share: number): string =>
      values.length === 0 ? '' : s(quantile(values, share));
    const all = allMs === null ? `${Math.round(delivered * 100)} % in ${limitMs / 1000} s` : s(allMs);
    const times = [part(remote, 0.5), part(remote, 0.95), part(toDelivered, 0.5), part(toDelivered, 0.95)];
    return [String(machines), who, all, pushesAMessage.toFixed(2), ...times];
  });
  return [
    ['machines', 'who', 'all everywhere', 'pushes a message', 'on the remote, p50', 'p95', 'delivered, p50', 'p95'],
    ['---:', '---', '---:', '---:', '---:', '---:', '---:', '---:'],
    ...rows,
  ]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}
