import type { Handle } from '../domain/ids.js';
import { isInviteSecret } from '../domain/invite-code.js';
import type {
  BehindBranch,
  Hold,
  Invitation,
  Mentioned,
  OddRefs,
  ProcessIdentity,
  RemoteState,
  SessionState,
  StorePlace,
  WentBack,
} from './ports.js';
import type { Check } from './shape.js';
import {
  agent,
  finite,
  flag,
  isRecord,
  handle,
  listOf,
  nullable,
  oid,
  oneOf,
  optional,
  shaped,
  text,
  time,
  whole,
} from './shape.js';

export const isIdentity: Check<ProcessIdentity> = shaped<ProcessIdentity>({
  pid: whole,
  started_at: finite,
  ticks: optional(text),
  boot: optional(text),
  pidns: optional(text),
  host: optional(text),
});

export const isSession: Check<SessionState> = shaped<SessionState>({
  agent,
  checked_in_at: time,
  fence: whole,
  previous_end: nullable(whole),
  ended: optional(shaped<{ n: number; at: string }>({ n: whole, at: time })),
  herdr_pane: nullable(text),
  owner: nullable(isIdentity),
});

export const isRemoteState: Check<RemoteState> = shaped<RemoteState>({
  last_ok_at: nullable(time),
  next_try_at: nullable(time),
  failures: whole,
  error: nullable(shaped<{ name: string; message: string }>({ name: text, message: text })),
  rejected: listOf(shaped<RemoteState['rejected'][number]>({ handle: text, tip: oid, kind: text, message: text })),
  writable: flag,
  failed_at: optional(time),
  refused_tip: optional(oid),
  behind: optional(listOf(shaped<BehindBranch>({ handle: text, there: nullable(oid), due_at: time, refusals: whole }))),
  went_back: optional(
    listOf(
      shaped<WentBack>({
        at: time,
        reset: flag,
        count: whole,
        branches: listOf(shaped<WentBack['branches'][number]>({ handle: text, from: oid, to: nullable(oid) })),
        back_at: optional(time),
      }),
    ),
  ),
  odd: optional(shaped<OddRefs>({ count: whole, first: listOf(text) })),
});

export const isHold: Check<Hold> = shaped<Hold>({
  kind: oneOf('handle_conflict', 'store_copied'),
  remote: text,
  tip: oid,
  since: time,
});

export const isPlace: Check<StorePlace> = shaped<StorePlace>({
  host: nullable(text),
  path: text,
  folder: finite,
  journal: nullable(finite),
});

export const isMentioned: Check<Mentioned[]> = listOf(
  shaped<Mentioned>({
    id: text,
    agents: (value): value is Record<string, number> => isRecord(value) && Object.values(value).every(whole),
  }),
);
const user = shaped<{ handle: Handle; key: string }>({ handle, key: text });
const isInvitation: Check<Invitation> = shaped<Invitation>({
  id: text,
  secret: (value): value is string => text(value) && isInviteSecret(value),
  created_at: time,
  expires_at: time,
  used: optional(user),
  contested: optional(listOf(user)),
});

export const isInvitationFile: Check<{ invitations: Invitation[] }> = shaped<{ invitations: Invitation[] }>({
  invitations: listOf(isInvitation),
});
