import type { CommitObject } from '../domain/git-object.js';
import { agentKey, isAgent, isAgentId, toIso } from '../domain/ids.js';
import type { AgentId } from '../domain/ids.js';
import { parseLogInput } from '../domain/inputs.js';
import type { LogInput } from '../domain/inputs.js';
import type { AuditEvent, EventLine } from '../domain/results.js';
import { visibleText } from '../domain/visible-text.js';
import type { MessageEntry } from '../store/ports.js';
import { verifySshSignature } from '../store/ssh-signature.js';
import { concernsRepo, messageOf, repoOf } from './concerns-repo.js';
import type { MeshContext } from './context.js';
import { messageId } from './message-id.js';
import { messageInHistory } from './message-in-history.js';
import { MessageReaders } from './message-readers.js';
import { newestFirst } from './newest-first.js';
import type { WalkOptions, Walked } from './newest-first.js';
import { presenceInHistory } from './presence-in-history.js';
import { OldMessages } from './recall.js';

/** Every machine's commits as one log, newest first by commit time, each branch in its own order. */
export async function* log(ctx: MeshContext, input: unknown, options: WalkOptions = {}): AsyncGenerator<EventLine> {
  for await (const { line } of matching(ctx, input, options)) yield line;
}

/** The same with what a picture of it needs to know of each message. */
export async function* audit(ctx: MeshContext, input: unknown, options: WalkOptions = {}): AsyncGenerator<AuditEvent> {
  for await (const { line, commit, entry } of matching(ctx, input, options)) {
    const { repo, expires_at, in_reply_to } = entry ?? (await factsOf(ctx, commit));
    yield { ...line, ids: commit.said?.messages ?? [], repo, expires_at, in_reply_to };
  }
}

type Facts = Pick<AuditEvent, 'repo' | 'expires_at' | 'in_reply_to'>;

/** Of a session where it works, and of a freeze for other machines how long it holds; of what else they wrote to each other nobody asks. */
async function factsOf(ctx: MeshContext, commit: Walked): Promise<Facts> {
  const [id] = commit.said?.messages ?? [];
  if (id === undefined) {
    const presence = await presenceInHistory(ctx, commit);
    return { repo: presence?.repo ?? null, expires_at: null, in_reply_to: null };
  }
  const isFreeze = commit.said?.type === 'freeze' || commit.said?.type === 'freeze-clear';
  const record = isFreeze ? await messageInHistory(ctx, commit, id) : null;
  const { expires_at = null, in_reply_to = null } = record ?? {};
  return { repo: repoOf(record), expires_at, in_reply_to };
}

interface Matching {
  line: EventLine;
  commit: Walked;
  entry: MessageEntry | undefined;
}

/** How far a clock that is behind may date an acknowledgement before what it acknowledges. */
const lateAckMs = 86_400_000;

async function* matching(ctx: MeshContext, input: unknown, options: WalkOptions): AsyncGenerator<Matching> {
  const wanted = parseLogInput(input, { now: ctx.clock.now() });
  const found = wanted.unacked ? unanswered(ctx, wanted, options) : walked(ctx, wanted, options);
  let left = wanted.limit ?? Infinity;
  for await (const one of found) {
    yield one;
    left -= 1;
    if (left <= 0) return;
  }
}

/**
 * The messages among what matches that nobody they were for acknowledged. Who acknowledged one is on other branches than
 * its own, and comes before it but for clocks that differ: each is held back until the walk is well past its time.
 */
async function* unanswered(ctx: MeshContext, wanted: LogInput, options: WalkOptions): AsyncGenerator<Matching> {
  const readers = new MessageReaders();
  const held: Matching[] = [];
  let walkedTo = Infinity;
  const onCommit = (commit: Walked): void => {
    walkedTo = commit.commit.committer.at;
    readers.note(commit);
  };
  for await (const one of walked(ctx, wanted, options, onCommit)) {
    if (one.line.event === 'send' && one.line.id !== undefined) held.push(one);
    for (let [first] = held; first !== undefined && walkedTo < sentAt(first) - lateAckMs; [first] = held) {
      held.shift();
      if (!readers.acknowledged(first.line)) yield first;
    }
  }
  for (const one of held) if (!readers.acknowledged(one.line)) yield one;
}

const sentAt = ({ commit }: Matching): number => commit.commit.committer.at;

/** What matches, newest first. `onCommit` sees every commit of every machine. */
async function* walked(
  ctx: MeshContext,
  wanted: LogInput,
  options: WalkOptions,
  onCommit?: (commit: Walked) => void,
): AsyncGenerator<Matching> {
  const message = wanted.message === undefined ? undefined : await messageId(ctx, wanted.message);
  const known = new OldMessages(ctx.store, await ctx.store.journal.view());
  const machine = onCommit === undefined ? wanted.machine : undefined;
  for await (const commit of newestFirst(ctx, { machine, since: wanted.since }, options)) {
    onCommit?.(commit);
    const { handle, said } = commit;
    const { at } = commit.commit.committer;
    if (wanted.machine !== undefined && handle !== wanted.machine) continue;
    if (wanted.since !== undefined && at < wanted.since) continue;
    if (wanted.until !== undefined && at > wanted.until) continue;
    if (message !== undefined && said?.messages.includes(message) !== true) continue;
    const id = message ?? said?.messages[0];
    const entry = said === null || id === undefined ? undefined : await messageOf(known, { said, handle }, id);
    const line = { ...eventLine(commit), ...(id === undefined ? {} : { id }) };
    if (entry !== undefined) line.message_id = entry.n;
    if (!matches(line, wanted)) continue;
    if (wanted.repo !== undefined && !(await concernsRepo(ctx, known, { commit, repo: wanted.repo }))) continue;
    yield { line, commit, entry };
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

const isBy = (author: string | null, agent: AgentId): boolean =>
  author !== null && isAgentId(author) && isAgent(author, agentKey(agent));

function matches(line: EventLine, wanted: LogInput): boolean {
  if (wanted.agent !== undefined && !isBy(line.agent, wanted.agent)) return false;
  if (wanted.type !== undefined && line.type !== wanted.type) return false;
  return wanted.grep === undefined || line.subject.toLowerCase().includes(wanted.grep.toLowerCase());
}
