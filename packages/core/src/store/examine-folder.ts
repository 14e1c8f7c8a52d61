import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isHandle } from '../domain/ids.js';
import type { Problem } from '../domain/results.js';
import { MeshError } from '../errors.js';
import { readConfig } from './config.js';
import { discard, readIfThere, writeTemporary } from './durable-fs.js';
import { examineLock } from './examine-lock.js';
import { examineShallow } from './examine-shallow.js';
import { errnoOf } from './fs.js';
import type { Fs } from './fs.js';
import { guardedFs } from './guarded-fs.js';
import { keyPath, readKey } from './keys.js';
import { isInvitationFile, isRemoteState, isSession } from './local-shapes.js';
import { nodeFs } from './node-fs.js';
import { isRecord, parseJson } from './shape.js';
import { lockPath } from './store-lock.js';

/** About what a commit takes: a smaller file may still find room where nothing else does. */
const probeBytes = 64 * 1024;
const rejoin =
  'put it back from a backup; without one, join the mesh again under another handle: git mesh join URL --machine HANDLE --dir NEWDIR';

/**
 * What is wrong with the files of a store, also with one that cannot be opened. Never throws for what it finds. Writes
 * a file and removes it again, to see whether the disk takes anything.
 */
export async function examineFolder(dir: string, { fs: disk = nodeFs }: { fs?: Fs } = {}): Promise<Problem[]> {
  const fs = guardedFs(disk, dir);
  const checks = [
    () => writing(fs, dir, { sync: true }),
    () => configuration(fs, dir),
    () => key(fs, dir),
    () => examineLock(fs, lockPath(dir), 'mesh/lock'),
    () => pins(fs, dir),
    () => localState(fs, dir),
    () => invitations(fs, dir),
    () => examineShallow(fs, dir),
  ];
  const problems: Problem[] = [];
  for (const check of checks) problems.push(...(await orProblem(check)));
  return problems;
}

/** What keeps a store from taking anything now: its disk, or who holds its lock. Cheap. */
export async function examineWriting(dir: string, { fs: disk = nodeFs }: { fs?: Fs } = {}): Promise<Problem[]> {
  const fs = guardedFs(disk, dir);
  const found = [
    await orProblem(() => writing(fs, dir, { sync: false })),
    await orProblem(() => examineLock(fs, lockPath(dir), 'mesh/lock')),
  ];
  return found.flat();
}

/** What a check finds, or the failure that kept it from looking, as a problem. Bugs are thrown on. */
export async function orProblem(check: () => Promise<Problem[]>): Promise<Problem[]> {
  try {
    return await check();
  } catch (error) {
    return [problemOf(error)];
  }
}

/** A failure as doctor lists it. @throws what is neither a MeshError nor one of the disk's. */
export function problemOf(error: unknown): Problem {
  if (error instanceof MeshError) return { kind: error.errorName, message: error.message, fix: fixOf(error) };
  const code = errnoOf(error);
  if (code === undefined) throw error;
  return {
    kind: 'store_unusable',
    message: `a file of the store is not what it should be (${code})`,
    fix: 'look at the store’s folder: a folder in a file’s place, or a damaged disk; put the store back from a backup',
  };
}

function fixOf(error: MeshError): string {
  switch (error.errorName) {
    case 'disk_full':
      return 'free some space, or raise the quota, on the disk of the store; nothing that was accepted is lost';
    case 'read_only':
      return 'make the store writable for this user: how its disk is mounted, and the owner and mode of its folder';
    case 'store_unusable':
      return 'check the owner and mode of the store’s folder, and the disk';
    case 'store_damaged':
      return rejoin;
    case 'format_too_new':
      return 'update git-mesh';
    case 'locked':
      return 'look at the process that holds the store, and try again';
    default:
      return 'try again; if it stays so, keep the store’s folder and look at it with stock git';
  }
}

async function writing(fs: Fs, dir: string, { sync }: { sync: boolean }): Promise<Problem[]> {
  const found = new Map<string, Problem>();
  for (const folder of ['mesh', 'objects']) {
    try {
      const path = await writeTemporary(fs, join(dir, folder), new Uint8Array(probeBytes), { sync });
      await discard(fs, path);
    } catch (error) {
      const problem = problemOf(error);
      found.set(problem.kind, {
        ...problem,
        message: `a test file could not be written to ${folder}: ${problem.message}`,
      });
    }
  }
  return [...found.values()];
}

async function configuration(fs: Fs, dir: string): Promise<Problem[]> {
  await readConfig(fs, dir);
  return [];
}

async function key(fs: Fs, dir: string): Promise<Problem[]> {
  await readKey(fs, dir);
  // Windows has no such modes: there the folder's rights hold.
  if (process.platform === 'win32') return [];
  const mode = (await stat(keyPath(dir))).mode & 0o777;
  if ((mode & 0o077) === 0) return [];
  return [
    {
      kind: 'key_permissions',
      path: 'mesh/key',
      message: `the machine’s private key can be reached by other users (mode ${mode.toString(8)}, expected 600)`,
      fix: `chmod 600 ${keyPath(dir)}; if others could read it, leave this handle and join under another one`,
    },
  ];
}

async function pins(fs: Fs, dir: string): Promise<Problem[]> {
  const bytes = await readIfThere(fs, join(dir, 'mesh', 'pins.json'));
  if (bytes === null) return [];
  const value = parseJson(bytes);
  const isWhole =
    isRecord(value) && Object.entries(value).every(([handle, pin]) => isHandle(handle) && typeof pin === 'string');
  if (isWhole) return [];
  return [
    {
      kind: 'pins_damaged',
      path: 'mesh/pins.json',
      message: `the keys that were pinned for other machines cannot be read (${bytes.length === 0 ? 'the file is empty' : 'it is no list of handles and keys'})`,
      fix: 'put mesh/pins.json back from a backup; else delete it: each key is pinned again when its branch next moves, so be sure of the remote',
    },
  ];
}

async function invitations(fs: Fs, dir: string): Promise<Problem[]> {
  const path = 'mesh/invites.json';
  const bytes = await readIfThere(fs, join(dir, path));
  if (bytes === null || isInvitationFile(parseJson(bytes))) return [];
  return [
    {
      kind: 'local_state_damaged',
      path,
      message: `${path} is damaged and counts as absent: whoever joins by an invitation of this machine that is under way is not admitted`,
      fix: 'make a new invitation with git mesh invite, which writes the file anew',
    },
  ];
}

const stateFiles = [
  { folder: 'sessions', isWhole: isSession, fix: 'the agent has to check in again' },
  { folder: 'remotes', isWhole: isRemoteState, fix: 'run git mesh sync, which writes it anew' },
  {
    folder: 'activity',
    isWhole: (value: unknown) => Number.isSafeInteger(value),
    fix: 'nothing needs to be done: the agent’s next call writes it anew',
  },
];

async function localState(fs: Fs, dir: string): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const { folder, isWhole, fix } of stateFiles) {
    for (const name of (await fs.list(join(dir, 'mesh', folder))).sort()) {
      if (name.startsWith('tmp_mesh_')) continue;
      const bytes = await readIfThere(fs, join(dir, 'mesh', folder, name));
      if (bytes === null || isWhole(parseJson(bytes))) continue;
      const path = `mesh/${folder}/${name}`;
      problems.push({ kind: 'local_state_damaged', path, message: `${path} is damaged and counts as absent`, fix });
    }
  }
  return problems;
}
