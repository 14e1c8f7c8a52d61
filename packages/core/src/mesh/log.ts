import type { ParsedCommitMessage } from '../domain/commit-message.js';
import type { CommitObject } from '../domain/git-object.js';
import { agentKey, isAgent, isAgentId, toIso } from '../domain/ids.js';
import type { AgentId, Handle } from '../domain/ids.js';
import { parseLogInput } from '../domain/inputs.js';
import type { LogInput } from '../domain/inputs.js';
import type { AuditEvent, EventLine } from '../domain/results.js';
import { visibleText } from '../domain/visible-text.js';
import type { JournalView, MessageEntry } from '../store/ports.js';
import { verifySshSignature } from '../store/ssh-signature.js';
import type { MeshContext } from './context.js';
import { newestFirst } from './newest-first.js';
import type { WalkOptions, Walked } from './newest-first.js';

/** Every machine's commits as one log, newest first by commit time, each branch in its own order. */
export async function* log(ctx: MeshContext, input: unknown, options: WalkOptions = {}): AsyncGenerator<EventLine> {
  for await (const { line } of matching(ctx, input, options)) yield line;
}

/** The same with what a picture of it needs to know of each message. */
export async function* audit(ctx: MeshContext, input: unknown, options: WalkOptions = {}): AsyncGenerator<AuditEvent> {
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

async function* matching(ctx: MeshContext, input: unknown, options: WalkOptions): AsyncGenerator<Matching> {
  const wanted = parseLogInput(input, { now: ctx.clock.now() });
  const journal = await ctx.store.journal.view();
  const unacked = wanted.unacked ? unackedIds(ctx, journal) : null;
  let left = wanted.limit ?? Infinity;
  for await (const commit of newestFirst(ctx, wanted, options)) {
    const { handle, said } = commit;
    if (wanted.since !== undefined && commit.commit.committer.at < wanted.since) continue;
    if (wanted.until !== undefined && commit.commit.committer.at > wanted.until) continue;
    const line = eventLine(commit);
    const entry = said === null ? undefined : messageOf(journal, said, handle);
    if (entry !== undefined) line.message_id = entry.n;
    if (!matches(line, wanted, entry)) continue;
    if (unacked !== null && (line.event !== 'send' || line.id === undefined || !unacked.has(line.id))) continue;
    yield { line, said, entry };
    left -= 1;
    if (left <= 0) return;
  }
}

/** A commit as an event. */
export function eventLine({ handle, key, oid, commit, said, revoked }: Walked): EventLine {
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
    ...(revoked ? { revoked } : {}),
  };
}

function signatureState(commit: CommitObject, key: string | undefined): EventLine['signature'] {
  if (commit.gpgsig === null) return 'none';
  if (key === undefined) return 'bad';
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
