import { encodeCharter } from '../domain/charter.js';
import { formatCommitMessage } from '../domain/commit-message.js';
import { toIso } from '../domain/ids.js';
import type { EpochMillis } from '../domain/ids.js';
import { charterPath, charterRef, machinePath, readmePath } from '../domain/layout.js';
import { encodeMachine } from '../domain/machine.js';
import { formatVersion } from '../domain/records.js';
import type { CharterRecord, MachineRecord } from '../domain/records.js';
import { editTree } from '../domain/tree-edit.js';
import { commitOnBranch } from '../store/commit.js';
import { hashObject } from '../store/object-id.js';
import { signedCommit } from '../store/signed-commit.js';
import type { Store } from '../store/store.js';

/** Writes the charter, once in the life of a mesh: the one branch without a machine. */
export async function foundCharter(store: Store, at: EpochMillis): Promise<void> {
  const { config, objects, refs, signer } = store;
  const record: CharterRecord = {
    format: formatVersion,
    mesh: config.mesh.id,
    name: config.mesh.name,
    policy: config.policy,
    created_at: toIso(at),
    founder: { handle: config.handle, key: signer.publicKey },
  };
  const files = new Map([
    [charterPath, encodeCharter(record)],
    [readmePath, new TextEncoder().encode(charterReadme(config.mesh.name, config.ref_prefix))],
  ]);
  const blobs = await objects.write([...files.values()].map((data) => ({ type: 'blob', data })));
  const edits = new Map([...files.keys()].map((path, i) => [path, { blob: present(blobs[i]) }]));
  const { root, trees } = await editTree({ root: null, readTree: (oid) => objects.tree(oid), edits, hash: hashObject });
  const machine = { name: config.handle, email: `${config.handle}@mesh.invalid`, at };
  const message = formatCommitMessage({
    event: 'init',
    agent: null,
    seq: 1,
    journal: 0,
    messages: [],
    read: [],
    summary: `mesh ${config.mesh.name} by ${config.handle}`,
  });
  const commit = { tree: root, parents: [], author: machine, committer: machine, message };
  const written = await objects.write([
    ...trees.map(({ data }) => ({ type: 'tree' as const, data })),
    { type: 'commit', data: signedCommit(signer, commit) },
  ]);
  await refs.update(charterRef(config.ref_prefix), { expected: null, next: present(written.at(-1)) });
}

/** The machine's first commit: who it is, by which charter it goes, and by whose invitation it came. */
export async function commitMachine(
  store: Store,
  at: EpochMillis,
  { invite }: Pick<MachineRecord, 'invite'> = {},
): Promise<void> {
  const { config, refs, signer } = store;
  const charter = await refs.read(charterRef(config.ref_prefix));
  const record: MachineRecord = {
    format: formatVersion,
    mesh: config.mesh.id,
    handle: config.handle,
    label: config.label,
    store: config.store,
    key: signer.publicKey,
    joined_at: toIso(at),
    ...(charter === null ? {} : { charter }),
    ...(invite === undefined ? {} : { invite }),
  };
  await commitOnBranch(store, {
    edits: new Map([[machinePath, encodeMachine(record)]]),
    event: { event: 'join', agent: null, journal: 0, messages: [], read: [], summary: config.handle },
    author: null,
    at,
  });
}

/** One id comes back for each object written. */
function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('an object was written without an id');
  return value;
}

function charterReadme(name: string, prefix: string): string {
  const branches = prefix.replace(/^refs\/heads\//, '');
  return `# ${name}: a mesh of coding agents

The branches \`${branches}*\` of this repository are a git-mesh: agents on different machines find each other
here and pass short messages. Every machine writes one branch, \`${branches}<handle>\`, and nobody else writes it; the
state of the mesh is the union of the branches' tips, and their history is the audit trail.

Read it with nothing but git:

    git fetch origin '+${prefix}*:refs/remotes/origin/${branches}*'
    git log --all --date-order --oneline                          what happened, newest first
    git log --all --format='%cI %an %s %(trailers:key=Mesh-Message,valueonly,separator=%x2C)'
    git ls-tree -r --name-only origin/${branches}<handle>         who is there, what is under way
    git show origin/${branches}<handle>:presence/<agent>.yaml

Files of a machine's branch: \`machine.yaml\` (who it is), \`presence/\` (its agents), \`messages/<to>/\` (what it sent),
\`acks/<sender>/\` (what its agents read), \`receipts/<sender>.yaml\` (how far it has fetched).

Do not commit to these branches by hand: a commit that its machine's key did not sign is not believed.
`;
}
