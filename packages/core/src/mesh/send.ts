import type { CallOptions } from '../api.js';
import { targetOf } from '../domain/commit-message.js';
import { sendSummary } from '../domain/commit-summary.js';
import { laterThan } from '../domain/freeze.js';
import { agentKey, isHandle, toIso } from '../domain/ids.js';
import type { AgentId, AgentKey, Handle, IsoTime, Ulid } from '../domain/ids.js';
import { parseSendInput } from '../domain/inputs.js';
import type { SendInput } from '../domain/inputs.js';
import { messagePath } from '../domain/layout.js';
import { believedExpiry, hasExpired, lookTime } from '../domain/message-life.js';
import { encodeMessage } from '../domain/message-record.js';
import { messageState } from '../domain/message-state.js';
import type { MessageRecord } from '../domain/records.js';
import { refusalWarning } from '../domain/remote-advice.js';
import type { SendResult, SyncSummary } from '../domain/results.js';
import { nextUlid, ulidTime } from '../domain/ulid.js';
import { visibleText } from '../domain/visible-text.js';
import { MeshError } from '../errors.js';
import type { JournalView, MessageEntry } from '../store/ports.js';
import { noteActivity } from './activity.js';
import { aliveAgents } from './agents.js';
import type { MeshContext } from './context.js';
import { clearsNothing } from './freeze-clear.js';
import { leftAt } from './left.js';
import { recalled } from './recall.js';
import { liveSession } from './sessions.js';
import { withdrawnHere } from './withdrawn.js';
import { cutOf } from './standing.js';
import { machineRevoked, unheard } from './unheard.js';
import type { SendQueue } from './send-queue.js';
import { commitChange, eventOf } from './write.js';
import type { Locked } from './run.js';

/** How long a sender looks for a machine or an agent that it does not know. */
const lookupMs = 2_000;

/** Whom a message reaches. */
interface Target {
  to: Handle | '*';
  toAgent: AgentId | null;
  recipients: string[];
}

/** A message is stored when this returns: the commit is on this disk, whatever the network does. */
export async function send(ctx: MeshContext, queue: SendQueue, input: unknown, call: CallOptions): Promise<SendResult> {
  const wanted = parseSendInput(input);
  const from = wanted.from_agent ?? onlyAgent(call);
  await noteActivity(ctx, call, from);
  const target = await findTarget(ctx, wanted);
  // A round may go on meanwhile: as far as is known.
  const refused = refusalWarning(await ctx.syncer.summary());
  return queue.run(async (state) => {
    const inReplyTo = await resolveReference(ctx, state, wanted.in_reply_to);
    const sender = await sendingAgent(ctx, state, from);
    const earlier = wanted.key === undefined ? undefined : await findByKey(ctx, state, wanted.key, sender.agent);
    if (earlier !== undefined) {
      return { ...result(ctx, state.journal, earlier, target), duplicate: true };
    }
    const record = newRecord(ctx, state, { wanted, target, inReplyTo, agent: sender.agent });
    const { journal } = await commitChange(ctx, state, {
      edits: new Map([[messagePath({ to: target.to, id: record.id }), encodeMessage(record)]]),
      event: eventOf('send', sender.agent, {
        messages: [record.id],
        to: targetOf(target.to, target.toAgent),
        type: record.type,
        // The number that the message is about to get: the journal can be rebuilt from it.
        journal: state.journal.highest + 1,
        summary: sendSummary({
          type: record.type,
          from: { agent: sender.agent, machine: ctx.branches.own },
          to: { machine: target.to, agent: target.toAgent },
          payload: record.payload,
        }),
      }),
    });
    const entry = journal.byIdFrom(ctx.branches.own, record.id);
    if (entry === undefined) throw new Error(`message ${record.id} is committed but not in the journal`);
    const warning = [
      sender.warning,
      noReader(target),
      await clearsNothing(ctx, journal, entry),
      refused,
      await unheard(ctx),
    ]
      .filter((text) => text !== null)
      .join(' ');
    return { ...result(ctx, journal, entry, target), ...(warning === '' ? {} : { warning }) };
  });
}

/** The sender that a connection stands for: its one agent, or nobody where it has several or none. */
function onlyAgent(call: CallOptions): AgentId | null {
  const [only, ...more] = call.connection.agents;
  // The set holds keys of agents that checked in; a key is a valid agent_id itself.
  return only === undefined || more.length > 0 ? null : (only as AgentId);
}

async function sendingAgent(
  ctx: MeshContext,
  { branch }: Locked,
  agent: AgentId | null,
): Promise<{ agent: AgentId | null; warning: string | null }> {
  if (agent === null) return { agent, warning: null };
  const live = await liveSession(ctx, branch, agentKey(agent));
  if (live !== null) return { agent: live.record.agent, warning: null };
  const warning = `${agent} is not checked in here, so nobody can answer it: call agent_checkin to receive replies.`;
  return { agent, warning };
}

async function findTarget(ctx: MeshContext, wanted: SendInput): Promise<Target> {
  const toAgent = wanted.to_agent ?? null;
  const known = await tryTarget(ctx, wanted.to, toAgent);
  if ('recipients' in known) return known;
  await ctx.syncer.round({ deadlineMs: lookupMs });
  const found = await tryTarget(ctx, wanted.to, toAgent);
  if ('recipients' in found) return found;
  throw asFarAsKnown(found.error, await ctx.syncer.summary());
}

/** Who joined or checked in since the last exchange is known to nobody here: where that failed, the answer is no certain one. */
function asFarAsKnown(error: MeshError, { error: failed }: SyncSummary): MeshError {
  if (failed === null) return error;
  const message = `${error.message} That is as far as this machine knows: its last exchange failed (${failed.message}).`;
  return new MeshError(error.errorName, message, { data: error.data });
}

async function tryTarget(
  ctx: MeshContext,
  to: string,
  toAgent: AgentId | null,
): Promise<Target | { error: MeshError }> {
  if (to === '*') {
    const recipients: string[] = [];
    for (const branch of await ctx.branches.all()) {
      recipients.push(...(await aliveAgents(ctx, branch)).map((view) => `${view.machine}/${view.agent_id}`));
    }
    return { to, toAgent: null, recipients };
  }
  const branch = isHandle(to) ? await ctx.branches.get(to) : null;
  const cut = isHandle(to) && to !== ctx.branches.own ? cutOf(await ctx.branches.roster(), to) : null;
  if (cut !== null) return { error: machineRevoked(to, cut) };
  const left = branch === null ? null : leftAt(branch);
  if (branch === null || left !== null) return { error: await machineNotFound(ctx, to, left) };
  const alive = (await aliveAgents(ctx, branch)).map((view) => view.agent_id);
  if (toAgent === null) return { to: branch.handle, toAgent, recipients: alive };
  const spelled = alive.find((agent) => agentKey(agent) === agentKey(toAgent));
  if (spelled !== undefined) return { to: branch.handle, toAgent: spelled, recipients: [spelled] };
  return { error: agentNotAlive(branch.handle, toAgent, alive) };
}

async function machineNotFound(ctx: MeshContext, to: string, left: IsoTime | null): Promise<MeshError> {
  const known = (await ctx.branches.all())
    .filter((branch) => leftAt(branch) === null && branch.revoked === undefined)
    .map((branch) => branch.handle);
  // As our own output writes a machine and an agent.
  const [both, other] = [/^([^/@]+)\/([^/@]+)$/.exec(to), /^([^/@]+)@([^/@]+)$/.exec(to)];
  const [machine, agent] = both === null ? [other?.[2], other?.[1]] : [both[1], both[2]];
  const meant = known.find((handle) => handle === machine);
  const hint =
    meant === undefined ? '' : ` For the agent ${agent ?? ''} there, give ${meant} as to and the agent as to_agent.`;
  const name = visibleText(to, { maxLength: 60 });
  const missing = left === null ? `No machine "${name}" in this mesh.` : `Machine ${name} left the mesh at ${left}.`;
  return new MeshError(
    'machine_not_found',
    `${missing} Known machines: ${known.join(', ')}. ` +
      `Use one of these handles, or * for all machines; agents_list shows who is where.${hint}`,
    { data: { to: name, known_handles: known, ...(left === null ? {} : { left_at: left }) } },
  );
}

function agentNotAlive(machine: Handle, agent: AgentId, alive: AgentId[]): MeshError {
  const wayOn =
    alive.length === 0
      ? 'No agent is alive there. Send it when one has checked in; agents_list shows who is where.'
      : `Alive there: ${alive.join(', ')}. Name one of these, or leave to_agent out to reach whoever is there.`;
  return new MeshError(
    'agent_not_alive',
    `Agent ${agent} is not checked in on ${machine}, so nothing was sent. ${wayOn}`,
    { data: { machine, to_agent: agent, alive_agents: alive } },
  );
}

function newRecord(
  ctx: MeshContext,
  { journal }: Locked,
  parts: { wanted: SendInput; target: Target; inReplyTo: Ulid | null; agent: AgentId | null },
): MessageRecord {
  const { wanted, target, inReplyTo, agent } = parts;
  const own = ctx.branches.own;
  const last = lastOwnUlid(journal, own);
  const { repo } = wanted.payload;
  const above = laterThan(journal.messages, { type: wanted.msg_type, repo: typeof repo === 'string' ? repo : null });
  // A millisecond above, with a randomness of its own: two machines that follow the same one must not meet.
  const now = Math.max(ctx.clock.now(), (above ?? -1) + 1);
  const id = nextUlid({ now, random: ctx.random, last });
  // Where the clock went back, the id goes on from the last one, and the times follow it: of a clock that fell back they
  // are right, and of one that had run ahead nobody believes them past the arrival.
  const sentAt = ulidTime(id);
  return {
    id,
    type: wanted.msg_type,
    from: { machine: own, ...(agent === null ? {} : { agent }) },
    to: { machine: target.to, ...(target.toAgent === null ? {} : { agent: target.toAgent }) },
    sent_at: toIso(sentAt),
    expires_at: toIso(sentAt + wanted.ttl_seconds * 1000),
    ...(inReplyTo === null ? {} : { in_reply_to: inReplyTo }),
    ...(wanted.key === undefined ? {} : { key: wanted.key }),
    payload: wanted.payload,
  };
}

function lastOwnUlid(journal: JournalView, own: Handle): Ulid | null {
  return journal.messages.findLast((entry) => entry.sender === own)?.id ?? null;
}

/** @throws MeshError `unknown_message` for a number that this machine never gave. A ULID may name what is not here. */
async function resolveReference(
  { store }: MeshContext,
  { journal }: Locked,
  reference: Ulid | number | undefined,
): Promise<Ulid | null> {
  if (typeof reference !== 'number') return reference ?? null;
  const entry = await recalled(store, journal, reference);
  if (entry !== undefined) return entry.id;
  throw new MeshError(
    'unknown_message',
    `This machine has no message number ${reference}: use the message_id that agent_inbox or agent_sent shows, or the ULID id.`,
    { data: { message_id: reference } },
  );
}

/** The message that the same agent sent with this key, while it lives and was not withdrawn. */
async function findByKey(
  ctx: MeshContext,
  { branch, journal }: Locked,
  key: string,
  agent: AgentId | null,
): Promise<MessageEntry | undefined> {
  const now = ctx.clock.now();
  const time = lookTime(now);
  const who = (name: AgentId | null): AgentKey | null => (name === null ? null : agentKey(name));
  const found = journal.messages.findLast(
    (entry) =>
      entry.key === key &&
      entry.sender === ctx.branches.own &&
      who(entry.agent) === who(agent) &&
      !hasExpired(entry, time),
  );
  if (found === undefined) return undefined;
  return (await withdrawnHere(ctx, branch, journal))(found) ? undefined : found;
}

function result(ctx: MeshContext, journal: JournalView, entry: MessageEntry, target: Target): SendResult {
  const { state } = messageState({ entry, journal, machine: ctx.branches.own, now: ctx.clock.now() });
  return {
    id: entry.id,
    message_id: entry.n,
    to: entry.to,
    to_agent: entry.to_agent,
    msg_type: entry.type,
    state,
    recipients: target.recipients,
    expires_at: toIso(believedExpiry(entry, ctx.clock.now())),
  };
}

function noReader(target: Target): string | null {
  if (target.recipients.length > 0) return null;
  const where = target.to === '*' ? 'on any machine' : `on ${target.to}`;
  return (
    `No agent is alive ${where} now: the message is stored, but an agent that checks in later does not get it in its inbox` +
    ' (a freeze is shown to it all the same).'
  );
}
