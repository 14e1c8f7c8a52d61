import { randomUUID } from 'node:crypto';
import { silentLogger } from '@git-mesh/core';
import type { ExportResult, ImportResult, StatusResult } from '@git-mesh/core';
import { exportBundle } from '../bundle/export.js';
import { importBundle } from '../bundle/import.js';
import { initMesh } from '../init.js';
import { joinMesh } from '../join.js';
import { GitFixture } from './git-fixture.js';
import { Peer } from './remote-mesh.js';

/** Machines without a remote: what they know of one another is carried in bundles. */
export interface BundleMesh {
  git: GitFixture;
  peers: Peer[];
  /** Exports at one and imports at the other. */
  carry: (from: Peer, to: Peer, sinceLast?: string) => Promise<ImportResult>;
  remove: () => void;
}

/** The first founds, the others join from its bundle; each knows those that joined before it. */
export async function bundleMesh(handles: readonly string[]): Promise<BundleMesh> {
  const git = new GitFixture();
  const peers: Peer[] = [];
  for (const machine of handles) {
    const setup = { dir: git.path(machine), env: process.env, logger: silentLogger, machine, hostname: machine };
    const [first] = peers;
    if (first === undefined) await initMesh(setup);
    else await joinMesh({ ...setup, url: (await exported(git, first)).file });
    const peer = await Peer.open(git, setup.dir);
    peers.push(peer);
    if (first !== undefined) await imported(first, (await exported(git, peer)).file);
  }
  return {
    git,
    peers,
    carry: async (from, to, sinceLast) => imported(to, (await exported(git, from, sinceLast)).file),
    remove: () => {
      git.remove();
    },
  };
}

export function exported(git: GitFixture, peer: Peer, sinceLast?: string): Promise<ExportResult> {
  const file = git.path(`${peer.handle}-${randomUUID()}.bundle`);
  return exportBundle(peer.mesh, { file, ...(sinceLast === undefined ? {} : { sinceLast }) });
}

export function imported(peer: Peer, file: string): Promise<ImportResult> {
  return importBundle({ mesh: peer.mesh, states: peer.states }, { file });
}

/** The kinds of what is wrong at a machine, as status and doctor tell. */
export async function problemsAt(peer: Peer): Promise<string[]> {
  const { problems }: StatusResult = await peer.status();
  return problems.map(({ kind, machine }) => `${machine ?? ''}: ${kind}`);
}
