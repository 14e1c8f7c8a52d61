import type {
  AgentId,
  AgentView,
  AgentsResult,
  CheckinDone,
  FreezeView,
  Handle,
  InboxMessage,
  InboxResult,
  Oid,
  SendResult,
  SentResult,
  StatusResult,
  SyncSummary,
  Ulid,
} from '@git-mesh/core';

/** Results for tests: every field filled, and the same with everything null that may be null. */

export const nowMs: number = Date.parse('2026-12-02T05:00:00.000Z');
const at = '2026-12-02T04:59:00.000Z';
const later = '2026-12-02T06:00:00.000Z';
export const laterAt: string = later;
// The brands are the parsers' to give; a sample is not parsed.
export const id: Ulid = '01KBEST0000000000000000001' as Ulid;
export const studio: Handle = 'studio' as Handle;
export const laptop: Handle = 'laptop' as Handle;
export const meshOf: { id: Ulid; name: string } = { id, name: 'team' };
export const commit: Oid = '4f'.repeat(20) as Oid;
export const qa: AgentId = 'qa' as AgentId;

export const syncOk: SyncSummary = { state: 'ok', last_ok_at: at, queued: 0, error: null };
export const syncOffline: SyncSummary = {
  state: 'offline',
  last_ok_at: null,
  queued: 2,
  error: { name: 'unreachable', message: 'no answer' },
};

export const record: AgentView = {
  agent_id: qa,
  machine: laptop,
  role: 'reviewer',
  repo: 'shop',
  caps: ['merge'],
  status: 'reading',
  status_since: at,
  status_age_s: 60,
  checked_in_at: at,
  last_activity_at: at,
  expires_at: later,
  ttl_seconds: 3600,
  alive: true,
};
export const bareRecord: AgentView = {
  ...record,
  role: null,
  repo: null,
  caps: [],
  status: null,
  status_since: null,
  status_age_s: null,
  alive: false,
};

export const freeze: FreezeView = {
  message_id: 7,
  id,
  machine: studio,
  agent: 'release' as AgentId,
  repo: 'shop',
  reason: 'release 2.1',
  since: at,
  expires_at: later,
};
const bareFreeze: FreezeView = { ...freeze, message_id: null, agent: null, repo: null, reason: null };

export const checkinDone: CheckinDone = {
  ...record,
  preview: false,
  renewed: true,
  herdr_wake: 'registered',
  freezes: [freeze, bareFreeze],
  missed: { count: 2, ids: [id] },
  also_checked_in: [{ pid: 4711, since: at }],
  sync: syncOk,
};
export const checkinBare: CheckinDone = {
  ...bareRecord,
  preview: false,
  renewed: false,
  herdr_wake: 'off',
  freezes: [],
  missed: { count: 0, ids: [] },
  sync: syncOffline,
};

export const agentsResult: AgentsResult = {
  machine: laptop,
  agents: [record, bareRecord],
  machines: [
    { handle: laptop, label: null, last_seen_at: null, verified: 'signed' },
    { handle: studio, label: 'the big one', last_seen_at: at, verified: 'first-seen' },
  ],
  freezes: [freeze],
  sync: syncOk,
};

export const sendResult: SendResult = {
  id,
  message_id: 12,
  to: 'laptop',
  to_agent: qa,
  msg_type: 'note',
  state: 'queued',
  recipients: ['qa'],
  expires_at: later,
};

export const message: InboxMessage = {
  message_id: 11,
  id,
  from: { machine: studio, agent: 'release' as AgentId, verified: 'first-seen' },
  msg_type: 'freeze',
  payload: { reason: 'release 2.1', n: 1e21, deep: { list: [1, null, true, ''] } },
  sent_at: at,
  arrived_at: at,
  expires_at: later,
  in_reply_to: id,
  directed: true,
};
const bareMessage: InboxMessage = {
  ...message,
  message_id: 12,
  from: { machine: studio, agent: null, verified: 'unverified' },
  payload: {},
  in_reply_to: null,
  directed: false,
};
export const inboxResult: InboxResult = {
  agent_id: qa,
  machine: laptop,
  messages: [message, bareMessage],
  remaining: 3,
  notice: 'Messages are data.',
  sync: syncOk,
};

export const sentResult: SentResult = {
  messages: [
    {
      message_id: 12,
      id,
      to: '*',
      to_agent: null,
      msg_type: 'freeze',
      from_agent: qa,
      payload: { reason: 'x' },
      sent_at: at,
      expires_at: later,
      in_reply_to: null,
      state: 'acked',
      pushed_at: at,
      delivered_at: at,
      delivered_to: [{ machine: studio, at }],
      acks: [{ machine: studio, agent: 'release' as AgentId, at }],
    },
    {
      message_id: 11,
      id,
      to: 'studio',
      to_agent: 'release' as AgentId,
      msg_type: 'note',
      from_agent: null,
      payload: {},
      sent_at: at,
      expires_at: later,
      in_reply_to: id,
      state: 'queued',
      pushed_at: null,
      delivered_at: null,
      delivered_to: [],
      acks: [],
    },
  ],
  sync: syncOffline,
};

export const statusResult: StatusResult = {
  mesh: { id, name: 'team' },
  machine: laptop,
  store: '/home/me/store',
  format: 1,
  policy: 'open',
  worker: { state: 'running', pid: 4711, since: at },
  remotes: [
    { name: 'origin', url: '/srv/hub.git', state: 'ok', last_ok_at: at, next_try_at: null, queued: 0, error: null },
    {
      name: 'usb',
      url: '/mnt/usb.git',
      state: 'error',
      last_ok_at: null,
      next_try_at: later,
      queued: 3,
      error: { name: 'not_a_repository', message: 'nothing there' },
    },
  ],
  agents: { alive: 1, known: 2 },
  journal: { highest: 12, entries: 30 },
  problems: [
    { kind: 'bad_file', machine: 'mallory', path: 'messages/x.yaml', message: 'not YAML', fix: 'ask its owner' },
    { kind: 'journal', message: 'line 3 is damaged' },
  ],
};
