import {
  Branches,
  MeshError,
  Store,
  charterRef,
  checkMachineTexts,
  commitMachine,
  defaultRefPrefix,
  formatVersion,
  handleFromHostname,
  handleOfRef,
  journalOwnBranch,
  nextUlid,
  parseHandle,
  parseRefPrefix,
  shellWord,
} from '@git-mesh/core';
import type { Handle, MachineRecord, MembershipResult, StoreConfig, StoreDeps, Ulid } from '@git-mesh/core';
import type { JoinOptions, OpenOptions } from './contract.js';
import { deadlineSignal } from './deadline.js';
import { noTwoSuchRefs, refsAbove } from './in-the-way.js';
import { withLocks } from './left-lock.js';
import { newObjects } from './new-objects.js';
import { refuseStore } from './remote-admission.js';
import { redactUrl } from './remote-url.js';
import { clock, random } from './system.js';
import { pushRefs } from './transport/push.js';
import type { PushedRef, RefUpdate } from './transport/push.js';
import type { Advertisement, Transport } from './transport/port.js';

/** What init and join have in common. */

export const setupLimitMs = 120_000;

export const newUlid = (): Ulid => nextUlid({ now: clock.now(), random, last: null });

/** What a remote has, without fetching any of it. @throws MeshError `not_a_repository` for another machine's store. */
export async function discover(transport: Transport, shown = 'the remote'): Promise<Advertisement> {
  const { signal, done } = deadlineSignal(20_000);
  try {
    const exchange = await transport.open('git-upload-pack', { signal });
    await exchange.close();
    refuseStore(exchange.advertised, shown);
    return exchange.advertised;
  } finally {
    done();
  }
}

/** The prefix of the mesh in a repository, by its charter; null where there is none. @throws MeshError `invalid_argument`. */
export function meshPrefix({ refs }: Pick<Advertisement, 'refs'>): string | null {
  if (refs.has(charterRef(defaultRefPrefix))) return defaultRefPrefix;
  const charter = [...refs.keys()].find((ref) => ref.endsWith('/_charter'));
  return charter === undefined ? null : parseRefPrefix(charter.slice(0, -'_charter'.length));
}

/** What is said of a ref that keeps the mesh's branches out, where there is one, with what to do. */
export function refInTheWay(
  shown: string,
  { refs }: Pick<Advertisement, 'refs'>,
  prefix: string = defaultRefPrefix,
): string | null {
  const [above] = refsAbove(prefix, refs);
  if (above === undefined) return null;
  return `${above} stands there in the way of every branch ${prefix}… (${noTwoSuchRefs}). Have it renamed or deleted there (git push ${shellWord(shown)} --delete ${above}), or give the mesh another place with --ref-prefix`;
}

export function noMeshThere(shown: string, there: Pick<Advertisement, 'refs'>): MeshError {
  const inTheWay = refInTheWay(shown, there);
  if (inTheWay !== null) {
    return new MeshError('not_found', `There is no mesh at ${shown} (no branch _charter), and ${inTheWay}.`);
  }
  return new MeshError(
    'not_found',
    `There is no mesh at ${shown} (no branch _charter): found one with \`git mesh init --remote ${shellWord(shown)}\`.`,
  );
}

/** The handle asked for, or the host's name with `-2`, `-3`… where it is taken. @throws MeshError `handle_taken`. */
export function chooseHandle(options: {
  machine: string | undefined;
  hostname: string;
  taken: ReadonlySet<string>;
}): Handle {
  const { machine, hostname, taken } = options;
  if (machine !== undefined) {
    const handle = parseHandle(machine, { argument: 'machine' });
    if (taken.has(handle)) throw handleTaken(handle);
    return handle;
  }
  const base = handleFromHostname(hostname);
  for (let i = 1; ; i++) {
    const suffix = i === 1 ? '' : `-${i}`;
    const handle = `${base.slice(0, 40 - suffix.length).replace(/-+$/, '')}${suffix}`;
    if (!taken.has(handle)) return parseHandle(handle);
  }
}

export function handleTaken(handle: string): MeshError {
  return new MeshError(
    'handle_taken',
    `The handle ${handle} is taken in this mesh, and a handle is never used again: choose another with --machine. ` +
      'A machine that lost its store joins under a new name.',
    { data: { handle } },
  );
}

const handlesIn = ({ refs }: Advertisement, prefix: string): Set<string> =>
  new Set([...refs.keys()].map((ref) => handleOfRef(prefix, ref)).filter((handle) => handle !== null));

export function newConfig(options: {
  handle: Handle;
  label: string | undefined;
  policy: 'open' | 'roster';
  prefix: string;
  mesh: StoreConfig['mesh'];
  remote: string | null;
}): StoreConfig {
  const { handle: machine, label, mesh } = options;
  checkMachineTexts({ machine, label, mesh: mesh.name });
  return {
    format: formatVersion,
    mesh: options.mesh,
    policy: options.policy,
    handle: options.handle,
    label: options.label ?? null,
    store: newUlid(),
    ref_prefix: options.prefix,
    remotes: options.remote === null ? [] : [{ name: 'origin', url: options.remote }],
  };
}

/** Of a machine that is about to join; the mesh's own id, name and policy are known once the charter is here. */
export function configToJoin(
  { machine, hostname, label }: Pick<JoinOptions, 'machine' | 'hostname' | 'label'>,
  { there, prefix, remote }: { there: Advertisement; prefix: string; remote: string | null },
): StoreConfig {
  const handle = chooseHandle({ machine, hostname, taken: handlesIn(there, prefix) });
  return newConfig({ handle, label, policy: 'open', prefix, mesh: { id: newUlid(), name: '' }, remote });
}

/** The machine's own first commit, and the journal that begins with it. */
export async function beginBranch(store: Store, named: Pick<MachineRecord, 'invite'> = {}): Promise<void> {
  await store.withLock(async () => {
    await commitMachine(store, clock.now(), named);
    await journalOwnBranch(store, await new Branches(store).ownBranch(), clock.now());
  });
}

/** Creates branches on a remote, all or none, with no force: what is there already refuses. */
export async function createBranches(
  store: Store,
  transport: Transport,
  branches: readonly { ref: string; source: string }[],
): Promise<readonly PushedRef[]> {
  const { signal, done } = deadlineSignal(setupLimitMs);
  const exchange = await transport.open('git-receive-pack', { signal });
  try {
    const updates: RefUpdate[] = [];
    const objects = new Set<RefUpdate['next']>();
    for (const { ref, source } of branches) {
      const next = await store.refs.read(source as RefUpdate['ref']);
      if (next === null) continue;
      updates.push({ ref: ref as RefUpdate['ref'], expected: null, next });
      for (const oid of await newObjects(store.objects, null, next)) objects.add(oid);
    }
    const pack = await store.objects.pack([...objects]);
    const results = await pushRefs(exchange, { updates, pack, atomic: true, signal });
    return await withLocks(results, transport, store.branch);
  } finally {
    await exchange.close();
    done();
  }
}

export function membershipResult(store: Store, writable: boolean, warning?: string): MembershipResult {
  const { config } = store;
  return {
    mesh: config.mesh,
    machine: config.handle,
    store: store.dir,
    remotes: config.remotes.map(({ name, url }) => ({ name, url: redactUrl(url) })),
    writable,
    ...(warning === undefined ? {} : { warning }),
  };
}

export const storeDeps = ({ logger }: OpenOptions): StoreDeps => ({ clock, random, logger });
