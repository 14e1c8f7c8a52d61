import type { ParsedCommitMessage } from '../domain/commit-message.js';
import type { CommitObject } from '../domain/git-object.js';
import { agentKey, isAgent, isAgentId, toIso } from '../domain/ids.js';
import type { AgentId, Handle, Ulid } from '../domain/ids.js';
import { parseLogInput } from '../domain/inputs.js';
import type { LogInput } from '../domain/inputs.js';
import type { MessageRecord } from '../domain/records.js';
import type { AuditEvent, EventLine } from '../domain/results.js';
import { visibleText } from '../domain/visible-text.js';
import type { JournalView, MessageEntry } from '../store/ports.js';
import { verifySshSignature } from '../store/ssh-signature.js';
import type { MeshContext } from './context.js';
import { messageInHistory } from './message-in-history.js';
import { newestFirst } from './newest-first.js';
import type { WalkOptions, Walked } from './newest-first.js';
import { isAcked, readAcks } from './read-acks.js';
import { ulidOf } from './ulid-of.js';

/** Every machine's commits as one log, newest first by commit time, each branch in its own order. */
export async function* log(ctx: MeshContext, input: unknown, options: WalkOptions = {}): AsyncGenerator<EventLine> {
  for await (const { line } of matching(ctx, input, options)) yield line;
}

/** The same with what a picture of it needs to know of each message. */
export async function* audit(ctx: MeshContext, input: unknown, options: WalkOptions = {}): AsyncGenerator<AuditEvent> {
  for await (const { line, commit, entry } of matching(ctx, input, options)) {
    const { repo, expires_at, in_reply_to } = entry ?? (await frozen(ctx, commit));
    yield { ...line, ids: commit.said?.messages ?? [], repo, expires_at, in_reply_to };
  }
}

type Facts = Pick<AuditEvent, 'repo' | 'expires_at' | 'in_reply_to'>;

/** How long a freeze holds that was for other machines; of what else they wrote to each other nobody asks. */
async function frozen(ctx: MeshContext, commit: Walked): Promise<Facts> {
  const [id] = commit.said?.messages ?? [];
  const isFreeze = commit.said?.type === 'freeze' || commit.said?.type === 'freeze-clear';
  const record = isFreeze && id !== undefined ? await messageInHistory(ctx, commit, id) : null;
  const { expires_at = null, in_reply_to = null } = record ?? {};
  return { repo: repoOf(record), expires_at, in_reply_to };
}

interface Matching {
  line: EventLine;
  commit: Walked;
  entry: MessageEntry | undefined;
}

async function* matching(ctx: MeshContext, input: unknown, options: WalkOptions): AsyncGenerator<Matching> {
  const wanted = parseLogInput(input, { now: ctx.clock.now() });
  const message = wanted.message === undefined ? undefined : await ulidOf(ctx, wanted.message);
  const journal = await ctx.store.journal.view();
  const acks = wanted.unacked ? await readAcks(ctx, wanted.since) : null;
  let left = wanted.limit ?? Infinity;
  for await (const commit of newestFirst(ctx, wanted, options)) {
    const { handle, said } = commit;
    if (wanted.since !== undefined && commit.commit.committer.at < wanted.since) continue;
    if (wanted.until !== undefined && commit.commit.committer.at > wanted.until) continue;
    if (message !== undefined && said?.messages.includes(message) !== true) continue;
    const [id] = message === undefined ? (said?.messages ?? []) : [message];
    const entry = said === null || id === undefined ? undefined : messageOf(journal, said, { handle, id });
    const line = { ...eventLine(commit), ...(id === undefined ? {} : { id }) };
    if (entry !== undefined) line.message_id = entry.n;
    if (!matches(line, wanted)) continue;
    if (acks !== null && !(line.event === 'send' && id !== undefined && !isAcked(line, acks.get(id)))) continue;
    if (wanted.repo !== undefined && !(await concerns(ctx, journal, { commit, repo: wanted.repo }))) continue;
    yield { line, commit, entry };
    left -= 1;
    if (left <= 0) return;
  }
}

/** Whether one of the messages that a commit speaks of names the repository. */
async function concerns(
  ctx: MeshContext,
  journal: JournalView,
  { commit, repo }: { commit: Walked; repo: string },
): Promise<boolean> {
  const { handle, said } = commit;
  if (said === null) return false;
  for (const id of said.messages) {
    const entry = messageOf(journal, said, { handle, id });
    const named = entry === undefined ? repoOf(await messageInHistory(ctx, commit, id)) : entry.repo;
    if (named === repo) return true;
  }
  return false;
}

function repoOf(record: MessageRecord | null): string | null {
  const repo = record?.payload['repo'];
  return typeof repo === 'string' ? repo : null;
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

function messageOf(
  journal: JournalView,
  said: ParsedCommitMessage,
  { handle, id }: { handle: Handle; id: Ulid },
): MessageEntry | undefined {
  return said.event === 'ack' ? journal.byId(id) : journal.byIdFrom(handle, id);
}

const isBy = (author: string | null, agent: AgentId): boolean =>
  author !== null && isAgentId(author) && isAgent(author, agentKey(agent));

function matches(line: EventLine, wanted: LogInput): boolean {
  if (wanted.agent !== undefined && !isBy(line.agent, wanted.agent)) return false;
  if (wanted.type !== undefined && line.type !== wanted.type) return false;
  return wanted.grep === undefined || line.subject.toLowerCase().includes(wanted.grep.toLowerCase());
}
