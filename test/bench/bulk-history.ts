import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, cpSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { encodeMessage, isOid, messagePath, nextUlid, parseAgentId, parseHandle, Store } from '@git-mesh/core';
import { type MessageRecord, silentLogger, toIso, type Ulid } from '@git-mesh/core';
import { initMesh, joinMesh, openMesh } from '@git-mesh/sync';
import { commitSigner } from '../commit-signature.js';
import { cleanEnvironment, type Environment } from '../environment.js';
import { stockGit } from '../stock-git.js';
import { objectId, writeCommitPack } from './commit-pack.js';
import { quietRemote } from './resident.js';

/** A mesh whose machine `studio` has sent much to `laptop`. */
export interface BulkHistory {
  remote: string;
  /** The store of `studio`. */
  store: string;
  env: Environment;
}

type Entries = Parameters<Store['journal']['append']>[0];
type Journaled = Extract<Entries[number], { kind: 'message' }>;

/** As 500 a day. */
const betweenMs = 172_800;
const lifeMs = 7 * 86_400_000;
/** What one commit prunes. */
const prunedAtOnce = 50;
const branch = 'refs/heads/mesh/studio';
const written = 'refs/heads/written';
const studio = parseHandle('studio');
const laptop = parseHandle('laptop');
const agent = parseAgentId('bench');

/** A commit of the history before it is signed: its message, and its time in seconds. */
interface Draft {
  message: string;
  at: number;
}

/**
 * Makes a mesh of two machines and puts `messages` messages on the branch of one of them, 500 a day until now, a commit
 * each, of which the last `live` are in its tip; the others were acknowledged and pruned. The files are written by
 * `git fast-import`, the commits signed with the machine's key, the journal filled by the store: seconds for what a
 * mesh does in months. The remote and the store have it all in one pack, as after `git gc`.
 */
export async function makeBulkHistory(root: string, messages: number, live: number): Promise<BulkHistory> {
  const remote = quietRemote(root);
  const env = cleanEnvironment(root);
  const member = (handle: string) => ({ env, logger: silentLogger, hostname: handle, machine: handle });
  const store = join(root, 'studio');
  await initMesh({ ...member('studio'), dir: store, remote });
  await joinMesh({ ...member('laptop'), dir: join(root, 'laptop'), url: remote });
  await syncAll(store, env);
  if (messages > 0) {
    const before = stockGit(['rev-parse', branch], { cwd: remote });
    const { drafts, journaled } = writeFiles(remote, before, { messages, live });
    const tip = signAll(remote, { before, drafts, store });
    stockGit(['update-ref', '-d', written], { cwd: remote });
    stockGit(['update-ref', branch, tip], { cwd: remote });
    stockGit(['repack', '-adq'], { cwd: remote });
    const packs = join('objects', 'pack');
    for (const name of readdirSync(join(remote, packs))) cpSync(join(remote, packs, name), join(store, packs, name));
    stockGit(['update-ref', branch, tip], { cwd: store });
    const pruned = Math.max(0, Math.floor((messages - live) / prunedAtOnce) * prunedAtOnce);
    await fillJournal(store, { tip, drafts: drafts.length, journaled, pruned });
  }
  await syncAll(store, env);
  return { remote, store, env };
}

/** The product takes what was made for a history of its own, or this throws. */
async function syncAll(store: string, env: Environment): Promise<void> {
  const mesh = await openMesh({ dir: store, env, logger: silentLogger });
  try {
    const sync = await mesh.syncNow();
    if (sync.state !== 'ok' || sync.queued !== 0) throw new Error(`studio is behind: ${JSON.stringify(sync)}`);
  } finally {
    await mesh.close();
  }
}

function messageOf(n: number, id: Ulid, sentMs: number): MessageRecord {
  return {
    id,
    type: 'note',
    from: { machine: studio, agent },
    to: { machine: laptop },
    sent_at: toIso(sentMs),
    expires_at: toIso(sentMs + lifeMs),
    payload: { reason: 'release 2.1', repo: 'shop', branch: `feature/${n}`, n },
  };
}

const data = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`data ${bytes.length}\n`), bytes, Buffer.from('\n')]);

/** Writes the files of each commit, with commits that are not signed yet. Gives what these say, in their order. */
function writeFiles(
  remote: string,
  before: string,
  { messages, live }: { messages: number; live: number },
): { drafts: Draft[]; journaled: Journaled[] } {
  const drafts: Draft[] = [];
  const journaled: Journaled[] = [];
  const stream = join(remote, 'stream');
  const fd = openSync(stream, 'w');
  let seq = Number(stockGit(['show', '-s', '--format=%(trailers:key=Mesh-Seq,valueonly)', before], { cwd: remote }));
  const commit = (draft: Draft, changes: Buffer): void => {
    const from = drafts.length === 0 ? `from ${before}\n` : '';
    const who = `committer studio <studio@mesh.invalid> ${draft.at} +0000\n`;
    const head = Buffer.from(`commit ${written}\n${who}`);
    writeSync(fd, Buffer.concat([head, data(Buffer.from(draft.message)), Buffer.from(from), changes]));
    drafts.push(draft);
  };
  const random = (length: number): Uint8Array => randomBytes(length);
  const start = Date.now() - messages * betweenMs;
  let id: Ulid | null = null;
  for (let n = 1; n <= messages; n++) {
    const sentMs = start + n * betweenMs - 1_000;
    const at = Math.floor(sentMs / 1000);
    id = nextUlid({ now: sentMs, random, last: id });
    const record = messageOf(n, id, sentMs);
    const path = messagePath({ to: laptop, id });
    const body = Buffer.from(encodeMessage(record));
    seq += 1;
    const trailers = `Mesh-Event: send\nMesh-Agent: ${agent}\nMesh-Message: ${id}\nMesh-To: laptop\nMesh-Type: note`;
    const message = `send note ${agent} -> laptop: release 2.1\n\n${trailers}\nMesh-Seq: ${seq}\nMesh-Journal: ${n}\n`;
    commit({ message, at }, Buffer.concat([Buffer.from(`M 100644 inline ${path}\n`), data(body)]));
    journaled.push(entryOf(record, { n, seq, path, blob: objectId('blob', body) }));
    const due = n - live;
    if (due <= 0 || due % prunedAtOnce !== 0) continue;
    seq += 1;
    const gone = journaled.slice(due - prunedAtOnce, due).map((entry) => `D ${entry.path}\n`);
    const pruned = `prune ${prunedAtOnce} messages\n\nMesh-Event: prune\nMesh-Seq: ${seq}\nMesh-Journal: ${n}\n`;
    commit({ message: pruned, at }, Buffer.from(gone.join('')));
  }
  closeSync(fd);
  const input = openSync(stream, 'r');
  const ran = spawnSync('git', ['fast-import', '--quiet', '--date-format=raw'], {
    cwd: remote,
    stdio: [input, 'ignore', 'inherit'],
  });
  closeSync(input);
  rmSync(stream);
  if (ran.status !== 0) throw new Error(`git fast-import ended with ${ran.status ?? 'a signal'}`);
  return { drafts, journaled };
}

function entryOf(
  record: MessageRecord,
  { n, seq, path, blob }: { n: number; seq: number; path: string; blob: string },
): Journaled {
  if (!isOid(blob)) throw new Error(`${blob} is no object id`);
  const { id, type, sent_at, expires_at } = record;
  const fixed = { kind: 'message', sender: studio, agent, to: laptop, to_agent: null } as const;
  const rest = { in_reply_to: null, repo: 'shop', reason: null, key: null };
  return { ...fixed, n, id, type, sent_at, expires_at, at: sent_at, blob, path, seq, ...rest };
}

/** The same commits again, each signed, in a pack of their own. Gives the last one. */
function signAll(
  remote: string,
  { before, drafts, store }: { before: string; drafts: readonly Draft[]; store: string },
): string {
  const trees = stockGit(['log', '--reverse', '--format=%T', `${before}..${written}`], { cwd: remote }).split('\n');
  if (trees.length !== drafts.length) throw new Error(`${trees.length} of ${drafts.length} commits were written`);
  const sign = commitSigner(store);
  let parent = before;
  function* commits(): Generator<Buffer> {
    for (const [index, { message, at }] of drafts.entries()) {
      const tree = trees[index] ?? '';
      const author = message.startsWith('send') ? 'bench <bench@studio.mesh.invalid>' : 'studio <studio@mesh.invalid>';
      const head = `tree ${tree}\nparent ${parent}\nauthor ${author} ${at} +0000\n`;
      const raw = `${head}committer studio <studio@mesh.invalid> ${at} +0000\n\n${message}`;
      const signed = Buffer.from(sign(raw));
      parent = objectId('commit', signed);
      yield signed;
    }
  }
  const pack = join(remote, 'commits.pack');
  writeCommitPack(pack, drafts.length, commits());
  const input = openSync(pack, 'r');
  const ran = spawnSync('git', ['index-pack', '--stdin'], { cwd: remote, stdio: [input, 'ignore', 'inherit'] });
  closeSync(input);
  rmSync(pack);
  if (ran.status !== 0) throw new Error(`git index-pack ended with ${ran.status ?? 'a signal'}`);
  return parent;
}

/** What the machine would have noted: each message, its acknowledgement unless it is live, and how far its branch is read. */
async function fillJournal(
  dir: string,
  { tip, drafts, journaled, pruned }: { tip: string; drafts: number; journaled: readonly Journaled[]; pruned: number },
): Promise<void> {
  if (!isOid(tip)) throw new Error(`${tip} is no object id`);
  const deps = { clock: { now: () => Date.now() }, random: randomBytes, logger: silentLogger };
  const store = await Store.open(dir, deps);
  await store.withLock(async () => {
    const { seq } = (await store.journal.view()).cursor(studio) ?? { seq: 0 };
    for (let from = 0; from < journaled.length; from += 500) {
      const some = journaled.slice(from, from + 500).flatMap((entry): Entries => {
        if (entry.n > pruned) return [entry];
        return [entry, { kind: 'acked', id: entry.id, machine: laptop, agent, at: entry.sent_at }];
      });
      await store.journal.append(some, { durable: false });
    }
    const at = toIso(Date.now());
    const cursor = { kind: 'cursor', sender: studio, commit: tip, seq: seq + drafts, at } as const;
    await store.journal.append([cursor], { durable: true });
  });
}
