import { parseCommitMessage } from '../domain/commit-message.js';
import type { ParsedCommitMessage } from '../domain/commit-message.js';
import type { CommitObject } from '../domain/git-object.js';
import { agentKey, isAgent, isAgentId, toIso } from '../domain/ids.js';
import type { AgentId, Handle, Oid } from '../domain/ids.js';
import { parseLogInput } from '../domain/inputs.js';
import type { LogInput } from '../domain/inputs.js';
import { charterRef } from '../domain/layout.js';
import type { AuditEvent, EventLine } from '../domain/results.js';
import { visibleText } from '../domain/visible-text.js';
import { MeshError } from '../errors.js';
import type { JournalView, MessageEntry } from '../store/ports.js';
import { verifySshSignature } from '../store/ssh-signature.js';
import { readCharter } from './charter.js';
import type { MeshContext } from './context.js';
import type { Edge } from './older-history.js';

/** Where the walk stands on one branch. */
export interface Head {
  handle: Handle;
  key: string | null;
  oid: Oid;
  commit: CommitObject;
  /** How many of its commits in a row were dated before the time asked for. */
  early?: number;
}

/**
 * A clock that was wrong for a while dates commits too early, with later ones below them. A branch is left once this many
 * in a row are too early: its whole history would cost the more the older it is.
 */
const maxEarly = 1_000;

export interface LogOptions {
  /** Called with each machine's edge that the log came to: what is older is not in this store. */
  onEdge?: (edge: Edge) => void;
}

/** Every machine's commits as one log, newest first by commit time, each branch in its own order. */
export async function* log(ctx: MeshContext, input: unknown, options: LogOptions = {}): AsyncGenerator<EventLine> {
  for await (const { line } of matching(ctx, input, options)) yield line;
}

/** The same with what a picture of it needs to know of each message. */
export async function* audit(ctx: MeshContext, input: unknown, options: LogOptions = {}): AsyncGenerator<AuditEvent> {
  for await (const { line, said, entry } of matching(ctx, input, options)) {
    const { repo = null, expires_at = null, in_reply_to = null } = entry ?? {};
    yield { ...line, ids: said?.messages ?? [], repo, expires_at, in_reply_to };
  }
}

interface Matching {
  line: EventLine;
  said: ParsedCommitMessage | null;
  entry: MessageEntry | undefined;
}

async function* matching(ctx: MeshContext, input: unknown, options: LogOptions): AsyncGenerator<Matching> {
  const wanted = parseLogInput(input, { now: ctx.clock.now() });
  const journal = await ctx.store.journal.view();
  const unacked = wanted.unacked ? unackedIds(ctx, journal) : null;
  let left = wanted.limit ?? Infinity;
  for await (const { handle, key, oid, commit } of newestFirst(ctx, wanted, options)) {
    if (wanted.since !== undefined && commit.committer.at < wanted.since) continue;
    if (wanted.until !== undefined && commit.committer.at > wanted.until) continue;
    const said = parseCommitMessage(commit.message);
    const line = eventLine({ handle, key, oid, commit }, said);
    const entry = said === null ? undefined : messageOf(journal, said, handle);
    if (entry !== undefined) line.message_id = entry.n;
    if (!matches(line, wanted, entry)) continue;
    if (unacked !== null && (line.event !== 'send' || line.id === undefined || !unacked.has(line.id))) continue;
    yield { line, said, entry };
    left -= 1;
    if (left <= 0) return;
  }
}

/** The commits of every machine's branch, newest first by commit time, each branch in its own order. */
export async function* newestFirst(
  ctx: MeshContext,
  wanted: Pick<LogInput, 'machine' | 'since'>,
  { onEdge }: LogOptions,
): AsyncGenerator<Head> {
  const edges = await ctx.branches.edges();
  const heads: Head[] = [];
  for (const branch of await ctx.branches.all()) {
    if (wanted.machine !== undefined && branch.handle !== wanted.machine) continue;
    const commit = await ctx.store.objects.commit(branch.tip);
    heads.push({ handle: branch.handle, key: branch.machine?.key ?? null, oid: branch.tip, commit });
  }
  const charter = await charterHead(ctx);
  if (charter !== null && (wanted.machine ?? charter.handle) === charter.handle) heads.push(charter);
  while (heads.length > 0) {
    const newest = heads.reduce((a, b) => (b.commit.committer.at > a.commit.committer.at ? b : a));
    yield newest;
    const [parent] = newest.commit.parents;
    const index = heads.indexOf(newest);
    const edge = edges.find(({ commit }) => commit === newest.oid);
    if (edge !== undefined) onEdge?.(edge);
    const isEarly = wanted.since !== undefined && newest.commit.committer.at < wanted.since;
    const early = isEarly ? (newest.early ?? 0) + 1 : 0;
    if (parent === undefined || edge !== undefined || early >= maxEarly) heads.splice(index, 1);
    else heads[index] = { ...newest, oid: parent, commit: await ctx.store.objects.commit(parent), early };
  }
}

/** The founding of the mesh, as its founder's act; null where the store's copy of the charter cannot be read. */
async function charterHead({ store }: MeshContext): Promise<Head | null> {
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

/** A commit as an event; `said` is its message, null where that is none of a mesh. */
export function eventLine({ handle, key, oid, commit }: Head, said: ParsedCommitMessage | null): EventLine {
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
    signature: signatureState(commit, key),
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
