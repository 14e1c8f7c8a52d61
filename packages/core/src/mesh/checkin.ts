import type { CallOptions } from '../api.js';
import { presenceSummary } from '../domain/commit-summary.js';
import { parseCheckinInput } from '../domain/inputs.js';
import type { CheckinInput } from '../domain/inputs.js';
import { agentKey, toIso } from '../domain/ids.js';
import type { AgentKey, EpochMillis, Ulid } from '../domain/ids.js';
import { freezesInForce } from '../domain/freeze.js';
import { presencePath } from '../domain/layout.js';
import { agentView, defaultTtl, effectiveExpiry, renewalDue } from '../domain/presence.js';
import { encodePresence } from '../domain/presence-record.js';
import type { PresenceRecord } from '../domain/records.js';
import type { CheckinDone, CheckinResult, HerdrWake } from '../domain/results.js';
import { provenDead } from '../store/identity.js';
import type { JournalView, SessionState } from '../store/ports.js';
import { noteActivity, touch } from './activity.js';
import type { MeshContext } from './context.js';
import { unreadBetween } from './inbox-entries.js';
import { judgedFreezes } from './machine-clocks.js';
import { lastActivityOf, liveSession, numberBefore } from './sessions.js';
import type { LiveSession } from './sessions.js';
import { commitChange, eventOf, locked } from './write.js';
import type { Locked } from './run.js';

/** `missed` is a hint, not a list to page through. */
const maxMissedIds = 100;

export async function checkin(ctx: MeshContext, input: unknown, call: CallOptions): Promise<CheckinResult> {
  const wanted = parseCheckinInput(input);
  if (!wanted.confirm) return preview(ctx, wanted);
  await noteActivity(ctx, call, null);
  const done = await locked(ctx, (state) => act(ctx, state, wanted, call));
  call.connection.agents.add(agentKey(wanted.agent_id));
  return { ...done, sync: await ctx.syncer.summary() };
}

async function preview(ctx: MeshContext, wanted: CheckinInput): Promise<CheckinResult> {
  const branch = await ctx.branches.ownBranch();
  const now = ctx.clock.now();
  const record = nextRecord(wanted, await liveSession(ctx, branch, agentKey(wanted.agent_id)), now);
  return {
    preview: true,
    record: agentView(record, branch.handle, now, null),
    next: 'Nothing was announced. Call agent_checkin again with confirm: true to do it.',
  };
}

async function act(
  ctx: MeshContext,
  state: Locked,
  wanted: CheckinInput,
  call: CallOptions,
): Promise<Omit<CheckinDone, 'sync'>> {
  const now = ctx.clock.now();
  const key = agentKey(wanted.agent_id);
  const live = await liveSession(ctx, state.branch, key);
  const record = nextRecord(wanted, live, now);
  const before = await ctx.store.local.session(key);
  const session: SessionState = {
    agent: record.agent,
    checked_in_at: record.checked_in_at,
    fence: live?.session.fence ?? state.journal.highest,
    previous_end: live === null ? await previousEnd(ctx, state, before, key) : live.session.previous_end,
    herdr_pane: ctx.platform === 'win32' ? null : (wanted.herdr_pane ?? live?.session.herdr_pane ?? null),
    owner: call.connection.owner ?? live?.session.owner ?? null,
  };
  // Do not reorder: a session without its record is no session, so a crash between the two leaves the agent as it was.
  await ctx.store.local.putSession(session);
  let journal = state.journal;
  if (live === null || changed(live.record, record) || renewalDue({ record: live.record, lastActivity: now, now })) {
    const event = live === null ? 'checkin' : live.record.status === record.status ? 'renew' : 'status';
    const edits = new Map([[presencePath(key), encodePresence(record)]]);
    const said = eventOf(event, record.agent, { summary: presenceSummary(record) });
    ({ journal } = await commitChange(ctx, state, { edits, event: said }));
  }
  await touch(ctx, key);
  const others = await alsoCheckedIn(call, live);
  return {
    preview: false,
    ...agentView(record, state.branch.handle, now, now),
    renewed: live !== null,
    herdr_wake: wake(ctx, session),
    freezes: freezesInForce(await judgedFreezes(ctx, journal), now, ctx.branches.own),
    missed: await missed(ctx, journal, session, key),
    ...(others.length === 0 ? {} : { also_checked_in: others }),
  };
}

/** The record that a check-in publishes: what is left out keeps its value in a session that goes on. */
function nextRecord(wanted: CheckinInput, live: LiveSession | null, now: EpochMillis): PresenceRecord {
  const at = toIso(now);
  const old = live?.record;
  // Left out keeps, an empty text clears.
  const role = wanted.role === undefined ? (old?.role ?? null) : wanted.role;
  const status = wanted.status === undefined ? (old?.status ?? null) : wanted.status;
  const ttl = wanted.ttl_seconds ?? old?.ttl_seconds ?? defaultTtl(role);
  return {
    ...old,
    agent: old?.agent ?? wanted.agent_id,
    role,
    repo: wanted.repo === undefined ? (old?.repo ?? null) : wanted.repo,
    caps: wanted.caps ?? old?.caps ?? [],
    status,
    status_since: status === null ? null : old?.status === status ? old.status_since : at,
    checked_in_at: old?.checked_in_at ?? at,
    last_activity_at: at,
    expires_at: toIso(now + ttl * 1000),
    ttl_seconds: ttl,
  };
}

/** True where the two differ in what an agent says of itself: the mere passing of time makes no commit. */
function changed(before: PresenceRecord, after: PresenceRecord): boolean {
  const said = ({ role, repo, caps, status, ttl_seconds }: PresenceRecord): string =>
    JSON.stringify([role, repo, caps, status, ttl_seconds]);
  return said(before) !== said(after);
}

/** The journal's highest number when the agent's last session ended; null where it never had one. */
async function previousEnd(
  ctx: MeshContext,
  { branch, journal }: Locked,
  before: SessionState | null,
  key: AgentKey,
): Promise<number | null> {
  if (before === null) return null;
  if (before.ended !== undefined) return before.ended.n;
  const [record, lastActivity] = await Promise.all([ctx.branches.presenceOf(branch, key), lastActivityOf(ctx, key)]);
  if (record?.checked_in_at === before.checked_in_at) {
    return numberBefore(journal, effectiveExpiry(record, lastActivity), before.fence);
  }
  // A crash came between the two: in a check-in, which then was none, or in a checkout, just after the last activity.
  if (lastActivity === null) return before.previous_end;
  return Math.max(before.previous_end ?? 0, numberBefore(journal, lastActivity, 0));
}

async function missed(
  ctx: MeshContext,
  journal: JournalView,
  session: SessionState,
  key: AgentKey,
): Promise<{ count: number; ids: Ulid[] }> {
  const { previous_end: end, fence } = session;
  if (end === null) return { count: 0, ids: [] };
  const unread = await unreadBetween(ctx, key, { journal, above: end, upTo: fence });
  return { count: unread.length, ids: unread.slice(0, maxMissedIds).map(({ id }) => id) };
}

async function alsoCheckedIn(call: CallOptions, live: LiveSession | null): Promise<{ pid: number; since: string }[]> {
  const other = live?.session.owner ?? null;
  if (live === null || other === null) return [];
  const mine = call.connection.owner;
  if (mine?.pid === other.pid && mine.started_at === other.started_at) return [];
  return (await provenDead(other)) ? [] : [{ pid: other.pid, since: live.record.checked_in_at }];
}

function wake(ctx: MeshContext, session: SessionState): HerdrWake {
  if (ctx.platform === 'win32') return 'unsupported';
  return session.herdr_pane === null ? 'off' : 'registered';
}
