import type { ParsedCommitMessage } from '../domain/commit-message.js';
import type { CommitObject } from '../domain/git-object.js';
import { agentKey, isAgent, isAgentId, toIso } from '../domain/ids.js';
import type { AgentId, Handle } from '../domain/ids.js';
import { parseLogInput } from '../domain/inputs.js';
import type { LogInput } from '../domain/inputs.js';
import type { AuditEvent, EventLine } from '../domain/results.js';
import { visibleText } from '../domain/visible-text.js';
import type { MessageEntry } from '../store/ports.js';
import { verifySshSignature } from '../store/ssh-signature.js';
import type { MeshContext } from './context.js';
import { messageId } from './message-id.js';
import { newestFirst } from './newest-first.js';
import type { WalkOptions, Walked } from './newest-first.js';
import { OldMessages } from './recall.js';

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

/** How far a clock that is behind may date an acknowledgement before what it acknowledges. */
const lateAckMs = 86_400_000;

async function* matching(ctx: MeshContext, input: unknown, options: WalkOptions): AsyncGenerator<Matching> {
  const wanted = parseLogInput(input, { now: ctx.clock.now() });
  const found = wanted.unacked ? unanswered(ctx, wanted, options) : walked(ctx, wanted, options, () => undefined);
  let left = wanted.limit ?? Infinity;
  for await (const one of found) {
    yield one;
    left -= 1;
    if (left <= 0) return;
  }
}

/**
 * The messages among what matches that no commit acknowledges. Who acknowledged one is on other branches than its own, and
 * comes before it but for clocks that differ: each is held back until the walk is well past its time.
 */
async function* unanswered(ctx: MeshContext, wanted: LogInput, options: WalkOptions): AsyncGenerator<Matching> {
  const answered = new Set<string>((await ctx.store.journal.whole()).acked.map((ack) => ack.id));
  let at = Infinity;
  const held: { one: Matching; at: number }[] = [];
  const onCommit = ({ commit, said }: Walked): void => {
    at = commit.committer.at;
    if (said?.event === 'ack') for (const id of said.messages) answered.add(id);
  };
  for await (const one of walked(ctx, wanted, options, onCommit)) {
    if (one.line.event === 'send' && one.line.id !== undefined) held.push({ one, at });
    for (let [first] = held; first !== undefined && at < first.at - lateAckMs; [first] = held) {
      held.shift();
      if (!answered.has(first.one.line.id ?? '')) yield first.one;
    }
  }
  for (const { one } of held) if (!answered.has(one.line.id ?? '')) yield one;
}

/** What matches, newest first. `onCommit` sees every commit of every machine. */
async function* walked(
  ctx: MeshContext,
  wanted: LogInput,
  options: WalkOptions,
  onCommit: (commit: Walked) => void,
): AsyncGenerator<Matching> {
  const old = new OldMessages(ctx.store, await ctx.store.journal.view());
  const message = wanted.message === undefined ? undefined : await messageId(ctx, wanted.message);
  const branches = wanted.unacked ? undefined : wanted.machine;
  for await (const commit of newestFirst(ctx, { machine: branches, since: wanted.since }, options)) {
    onCommit(commit);
    const { handle, said } = commit;
    const { at } = commit.commit.committer;
    const isWanted =
      (wanted.machine === undefined || handle === wanted.machine) &&
      (wanted.since === undefined || at >= wanted.since) &&
      (wanted.until === undefined || at <= wanted.until) &&
      (message === undefined || said?.messages.includes(message) === true);
    if (!isWanted) continue;
    const line = eventLine(commit);
    const entry = said === null ? undefined : await messageOf(old, said, handle);
    if (entry !== undefined) line.message_id = entry.n;
    if (matches(line, wanted, entry)) yield { line, said, entry };
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

async function messageOf(
  old: OldMessages,
  said: ParsedCommitMessage,
  handle: Handle,
): Promise<MessageEntry | undefined> {
  const [id] = said.messages;
  if (id === undefined) return undefined;
  return old.find(said.event === 'ack' ? undefined : handle, id);
}

const isBy = (author: string | null, agent: AgentId): boolean =>
  author !== null && isAgentId(author) && isAgent(author, agentKey(agent));

function matches(line: EventLine, wanted: LogInput, entry: MessageEntry | undefined): boolean {
  if (wanted.agent !== undefined && !isBy(line.agent, wanted.agent)) return false;
  if (wanted.type !== undefined && line.type !== wanted.type) return false;
  if (wanted.repo !== undefined && entry?.repo !== wanted.repo) return false;
  return wanted.grep === undefined || line.subject.toLowerCase().includes(wanted.grep.toLowerCase());
}
