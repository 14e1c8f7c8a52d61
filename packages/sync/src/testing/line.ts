import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { silentLogger } from '@git-mesh/core';
import type { Oid, RefName, RemoteStatus } from '@git-mesh/core';
import { initMesh } from '../init.js';
import { joinMesh } from '../join.js';
import { addRemote } from '../remote-add.js';
import type { Service, Transport } from '../transport/port.js';
import { GitFixture } from './git-fixture.js';
import { Peer } from './remote-mesh.js';

/** Three machines in a line, which know each other: studio – hub1 – desk – hub2 – laptop. */
export interface Line {
  git: GitFixture;
  hub1: string;
  hub2: string;
  studio: Peer;
  desk: Peer;
  laptop: Peer;
  /** The time of all three; a test moves it. */
  time: { now: number };
  clock: { now: () => number };
}

export async function threeInALine(): Promise<Line> {
  const git = new GitFixture();
  const [hub1, hub2] = [git.bare('hub1.git'), git.bare('hub2.git')];
  const setup = (machine: string) => ({
    dir: git.path(machine),
    env: process.env,
    logger: silentLogger,
    machine,
    hostname: machine,
  });
  const time = { now: 0 };
  const clock = { now: () => time.now };
  const open = (machine: string): Promise<Peer> => Peer.open(git, git.path(machine), { clock });
  await initMesh({ ...setup('studio'), remote: hub1 });
  await joinMesh({ ...setup('desk'), url: hub1 });
  await addRemote({ ...setup('desk'), name: 'second', url: hub2 });
  await joinMesh({ ...setup('laptop'), url: hub2 });
  const [studio, desk, laptop] = [await open('studio'), await open('desk'), await open('laptop')];
  // Commits and journals of the set-up are of real time.
  time.now = Date.now() + 1000;
  for (const peer of [desk, studio, laptop, desk]) await peer.sync();
  return { git, hub1, hub2, studio, desk, laptop, time, clock };
}

/** Half of the way between 5 and 30 s, as a peer's random 0.5 draws it. */
export const carryMs = 17_500;

/** A round as a worker or a command makes it: nobody asks for more than is due. */
export const background = (peer: Peer): Promise<void> => peer.sync({ ignoreBackoff: false });

/** Counts what is opened of one of a peer's remotes, and lets a test stand in its way. */
export function meet(
  peer: Peer,
  name: string,
  instead?: (service: Service, signal: AbortSignal) => Promise<never> | null,
): Service[] {
  const opened: Service[] = [];
  const at = peer.remotes.findIndex((remote) => remote.name === name);
  const remote = peer.remotes[at];
  if (remote === undefined) throw new Error(`no remote ${name}`);
  const transport: Transport = {
    watchable: remote.transport.watchable,
    open: (service, options) => {
      opened.push(service);
      return instead?.(service, options.signal) ?? remote.transport.open(service, options);
    },
  };
  peer.remotes[at] = { ...remote, transport };
  return opened;
}

export const pushes = (opened: readonly Service[]): number =>
  opened.filter((service) => service === 'git-receive-pack').length;

/** A hook of the repository, as a shell's script. */
export function hook(hub: string, name: string, script: string): void {
  const file = join(hub, 'hooks', name);
  mkdirSync(join(hub, 'hooks'), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

/** A machine's branch on a hub; undefined where it has none. */
export function tipOf(git: GitFixture, hub: string, handle: string): Oid | undefined {
  return git.refs(hub).get(`refs/heads/mesh/${handle}` as RefName);
}

/** A remote as `status` shows it. */
export async function remoteOf(peer: Peer, name: string): Promise<RemoteStatus | undefined> {
  return (await peer.facts()).remotes.find((remote) => remote.name === name);
}
