import { parseCommitMessage } from '../domain/commit-message.js';
import type { ParsedCommitMessage } from '../domain/commit-message.js';
import type { CommitObject } from '../domain/git-object.js';
import { agentKey, isAgent, isAgentId, toIso } from '../domain/ids.js';
import type { AgentId, Handle, Oid } from '../domain/ids.js';
import { parseLogInput } from '../domain/inputs.js';
import type { LogInput } from '../domain/inputs.js';
import { charterRef } from '../domain/layout.js';
import type { EventLine } from '../domain/results.js';
import { visibleText } from '../domain/visible-text.js';
import { MeshError } from '../errors.js';
import type { JournalView, MessageEntry } from '../store/ports.js';
import { verifySshSignature } from '../store/ssh-signature.js';
import { readCharter } from './charter.js';
import type { MeshContext } from './context.js';
import type { Edge } from './older-history.js';

/**
 * How many commits in a row may be dated before the time asked for until a branch has no later ones: a clock that was
 * set back dates a commit before its parents. A machine makes fewer in any time that a clock is off without being seen.
 */
const lookPast = 1_000;

interface Head {
  handle: Handle;
  key: string | null;
  oid: Oid;
  commit: CommitObject;
  /** How many of its last commits in a row, this one included, are dated before the time asked for. */
  early: number;
}

export interface LogOptions {
  /** Called with each machine's edge that the log came to: what is older is not in this store. */
  onEdge?: (edge: Edge) => void;
}

/**
 * Every machine's commits as one log, newest first by commit time, each branch in its own order. With `since` a branch
 * is followed past commits that are dated earlier, {@link lookPast} in a row: its dates may go back and forth.
 */
export async function* log(ctx: MeshContext, input: unknown, options: LogOptions = {}): AsyncGenerator<EventLine> {
  const wanted = parseLogInput(input, { now: ctx.clock.now() });
  const journal = await ctx.store.journal.view();
  const unacked = wanted.unacked ? unackedIds(ctx, journal) : null;
  let left = wanted.limit ?? Infinity;
  for await (const { handle, key, oid, commit } of newestFirst(ctx, wanted, options)) {
    if (wanted.since !== undefined && commit.committer.at < wanted.since) continue;
    if (wanted.until !== undefined && commit.committer.at > wanted.until) continue;
    const said = parseCommitMessage(commit.message);
    const line = { ...lineOf({ handle, oid, commit, said }), signature: signatureState(commit, key) };
    const entry = said === null ? undefined : messageOf(journal, said, handle);
    if (entry !== undefined) line.message_id = entry.n;
    if (!matches(line, wanted, entry)) continue;
    if (unacked !== null && (line.event !== 'send' || line.id === undefined || !unacked.has(line.id))) continue;
    yield line;
    left -= 1;
    if (left <= 0) return;
  }
}

async function* newestFirst(ctx: MeshContext, wanted: LogInput, { onEdge }: LogOptions): AsyncGenerator<Head> {
  const edges = await ctx.branches.edges();
  const isEarly = ({ committer }: CommitObject): boolean => wanted.since !== undefined && committer.at < wanted.since;
  const heads: Head[] = [];
  for (const branch of await ctx.branches.all()) {
    if (wanted.machine !== undefined && branch.handle !== wanted.machine) continue;
    const commit = await ctx.store.objects.commit(branch.tip);
    heads.push({
      handle: branch.handle,
      key: branch.machine?.key ?? null,
      oid: branch.tip,
      commit,
      early: isEarly(commit) ? 1 : 0,
    });
  }
  const charter = await charterHead(ctx);
  if (charter !== null && (wanted.machine ?? charter.handle) === charter.handle) heads.push({ ...charter, early: 0 });
  while (heads.length > 0) {
    const newest = heads.reduce((a, b) => (b.commit.committer.at > a.commit.committer.at ? b : a));
    yield newest;
    const [parent] = newest.commit.parents;
    const index = heads.indexOf(newest);
    const edge = edges.find(({ commit }) => commit === newest.oid);
    // What nobody asked for is not missed.
    if (edge !== undefined && newest.early === 0) onEdge?.(edge);
    if (parent === undefined || edge !== undefined || newest.early >= lookPast) {
      heads.splice(index, 1);
      continue;
    }
    const commit = await ctx.store.objects.commit(parent);
    heads[index] = { ...newest, oid: parent, commit, early: isEarly(commit) ? newest.early + 1 : 0 };
  }
}

/** The founding of the mesh, as its founder's act; null where the store's copy of the charter cannot be read. */
async function charterHead({ store }: MeshContext): Promise<Omit<Head, 'early'> | null> {
  const oid = await store.refs.read(charterRef(store.config.ref_prefix));
  if (oid === null) return null;
  try {
    const { founder } = await readCharter(store.objects, oid);
    return { handle: founder.handle, key: founder.key, oid, commit: await store.objects.commit(oid) };
  } catch (error) {
    if (error instanceof MeshError) return null;
    throw error;
  }
}

function lineOf(parts: {
  handle: Handle;
  oid: Oid;
  commit: CommitObject;
  said: ParsedCommitMessage | null;
}): Omit<EventLine, 'signature'> {
  const { handle, oid, commit, said } = parts;
  const [id] = said?.messages ?? [];
  return {
    event: said?.event ?? 'unknown',
    commit: oid,
    at: toIso(commit.committer.at),
    machine: handle,
    agent: said?.agent ?? null,
    subject: visibleText(said?.subject ?? commit.message.split('\n')[0] ?? '', { maxLength: 200 }),
    ...(id === undefined ? {} : { id }),
    ...(said?.to === undefined ? {} : { to: said.to }),
    ...(said?.type === undefined ? {} : { type: said.type }),
  };
}

function signatureState(commit: CommitObject, key: string | null): EventLine['signature'] {
  if (commit.gpgsig === null) return 'none';
  if (key === null) return 'bad';
  return verifySshSignature({ armoured: commit.gpgsig, data: commit.signedBytes, publicKey: key }) ? 'good' : 'bad';
}

function messageOf(journal: JournalView, said: ParsedCommitMessage, handle: Handle): MessageEntry | undefined {
  const [id] = said.messages;
  if (id === undefined) return undefined;
  return said.event === 'ack' ? journal.byId(id) : journal.byIdFrom(handle, id);
}

const isBy = (author: string | null, agent: AgentId): boolean =>
  author !== null && isAgentId(author) && isAgent(author, agentKey(agent));

function matches(line: EventLine, wanted: LogInput, entry: MessageEntry | undefined): boolean {
  if (wanted.agent !== undefined && !isBy(line.agent, wanted.agent)) return false;
  if (wanted.type !== undefined && line.type !== wanted.type) return false;
  if (wanted.repo !== undefined && entry?.repo !== wanted.repo) return false;
  return wanted.grep === undefined || line.subject.toLowerCase().includes(wanted.grep.toLowerCase());
}

/** Messages of this machine, or to it, that nobody they were for has acknowledged. */
function unackedIds(ctx: MeshContext, journal: JournalView): ReadonlySet<string> {
  const acked = new Set(journal.acked.map((ack) => ack.id));
  return new Set(
    journal.messages
      .filter((entry) => entry.sender === ctx.branches.own && !acked.has(entry.id))
      .map((entry) => entry.id),
  );
}
