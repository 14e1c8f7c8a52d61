import type {
  AgentsResult,
  CheckinDone,
  CheckinResult,
  InboxResult,
  MembershipResult,
  SendResult,
  SentResult,
} from '@git-mesh/core';
import { describe, expect, it } from 'vitest';
import { plainStyle } from '../style.js';
import { stubNow, syncOk } from '../testing/stub-runtime.js';
import type { View, ViewContext } from '../view.js';
import { agentsView } from './agents.js';
import { checkinView } from './checkin.js';
import { doctorView } from './doctor.js';
import { inboxView } from './inbox.js';
import { logLines } from './log.js';
import { leaveView } from './leave.js';
import { membershipView } from './membership.js';
import { rotateKeyView } from './rotate-key.js';
import { sendView } from './send.js';
import { sentView } from './sent.js';
import { statusView } from './status.js';
import { syncWarnings } from './sync-warnings.js';
import { unfreezeView } from './unfreeze.js';

// Loaded as the program loads it: never with the program itself.
const { visibleText } = await import('@git-mesh/core');

const context: ViewContext = {
  style: plainStyle,
  nowMs: stubNow,
  columns: undefined,
  visible: (text, maxLength = 200) => visibleText(text, { maxLength }),
  own: (text) => visibleText(text),
};
const at = (secondsAgo: number): string => new Date(stubNow - secondsAgo * 1000).toISOString();
const hostile = '\u001b[2J\u001b]0;owned\u0007\u202eevil\r\nMachines: forged\u009b1m\u2028x';
const allText = ({ text, warnings = [] }: View): string => [text, ...warnings].join('\n');
/** Nothing that moves a cursor, starts an escape or reorders may be there; lines may. */
function expectHarmless(text: string): void {
  // eslint-disable-next-line no-control-regex -- these are what must not be there
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/);
}

const agent = {
  agent_id: 'qa', machine: 'laptop', role: hostile, repo: hostile, caps: [hostile], status: hostile, status_since: at(200),
  status_age_s: 200, checked_in_at: at(300), last_activity_at: at(185), expires_at: at(-3300), ttl_seconds: 3600, alive: true,
}; // prettier-ignore
const freeze = { message_id: 5, id: 'X', machine: 'studio', agent: 'boss', repo: hostile, reason: hostile, since: at(60), expires_at: at(-600) }; // prettier-ignore
const offline = {
  state: 'offline' as const,
  last_ok_at: at(120),
  queued: 2,
  error: { name: 'unreachable', message: hostile },
};
const agents = { machine: 'studio', agents: [agent], machines: [{ handle: 'laptop', label: hostile, last_seen_at: at(9), verified: 'unverified' }], freezes: [freeze], sync: offline } as unknown as AgentsResult; // prettier-ignore
const message = { message_id: 12, id: 'X', from: { machine: 'studio', agent: 'boss', verified: 'signed' }, msg_type: 'note', payload: { [hostile]: hostile, message: 'two\nlines' }, sent_at: at(180), arrived_at: at(179), expires_at: at(-999), in_reply_to: null, directed: true }; // prettier-ignore
const inbox = { agent_id: 'qa', machine: 'laptop', messages: [message], remaining: 3, notice: 'data, not instructions', sync: syncOk } as unknown as InboxResult; // prettier-ignore

describe('what people read', () => {
  it('shows agents with relative ages', () => {
    const { text } = agentsView({ ...agents, agents: [{ ...agents.agents[0]!, role: 'reviewer', repo: 'shop', status: 'testing' }], freezes: [] }, context); // prettier-ignore
    expect(text.split('\n').slice(0, 2)).toEqual([
      'AGENT  MACHINE  ROLE      REPO  STATUS   FOR    ACTIVE     EXPIRES',
      'qa     laptop   reviewer  shop  testing  3 min  3 min ago  in 55 min',
    ]);
  });

  it('says when nobody is there, and still what is wrong with the sync', () => {
    const view = agentsView({ ...agents, agents: [], freezes: [] }, context);
    expect(view.text).toContain('No agents are checked in.');
    expect(view.warnings?.[0]).toContain('not synchronised (last exchange 2 min ago, 2 commits waiting');
  });

  it('says nothing of a sync that works', () => {
    expect(syncWarnings(syncOk, context)).toEqual([]);
  });

  it('shows an inbox with how to page on and to acknowledge', () => {
    const { text } = inboxView(inbox, context);
    expect(text).toContain('#12 note from boss@studio · 3 min ago · to you');
    expect(text).toContain('  │ message: two\n  │   lines');
    expect(text).toContain('git-mesh inbox qa --after 12');
    expect(text).toContain('git-mesh ack qa 12');
  });

  it('lets no text of others act on the terminal or pass for ours', () => {
    const checkin = { ...agent, preview: false, renewed: false, herdr_wake: 'off', freezes: [freeze], missed: { count: 1, ids: [] }, sync: offline } as unknown as CheckinResult; // prettier-ignore
    const sent = { messages: [{ ...message, to: '*', to_agent: null, from_agent: null, state: 'acked', acks: [{ machine: 'laptop', agent: 'qa', at: at(3) }] }], sync: offline } as unknown as SentResult; // prettier-ignore
    const problem = { kind: 'bad_file', machine: 'mallory', path: hostile, message: hostile, fix: hostile };
    const remote = { name: 'origin', url: hostile, state: 'error' as const, last_ok_at: null, next_try_at: at(-5), queued: 1, error: { name: 'x', message: hostile } }; // prettier-ignore
    const status = { mesh: { id: 'X', name: hostile }, machine: 'studio', store: '/s', format: 1, policy: 'open', worker: null, remotes: [remote], agents: { alive: 0, known: 0 }, journal: { highest: 0, entries: 0 }, problems: [problem] }; // prettier-ignore
    const event = {
      event: 'send',
      commit: 'c',
      at: at(9),
      machine: 'm',
      agent: hostile,
      subject: hostile,
      signature: 'bad',
    };
    const views = [
      agentsView(agents, context),
      inboxView(inbox, context),
      checkinView(checkin, context),
      sentView(sent, context),
      doctorView({ ok: false, problems: [problem] }, context),
      statusView(status as never, context),
      { text: logLines(context)(event as never), kind: 'answer' as const },
    ].map(allText);
    for (const text of views) {
      expect(text).toContain('evil');
      expectHarmless(text);
      expect(text.split('\n').filter((line) => line.startsWith('Machines: forged'))).toEqual([]);
    }
  });

  it('tells how another machine joins what was made, and nothing of that to one that joined', () => {
    const made = (url: string) => ({ mesh: { id: 'X', name: 'team' }, machine: 'studio', store: '/s', remotes: [{ name: 'origin', url }], writable: true }) as unknown as MembershipResult; // prettier-ignore
    const line = (url: string): string | undefined =>
      membershipView('made')(made(url), context)
        .text.split('\n')
        .find((text) => text.startsWith('On another'));
    expect(line('/srv/git/team.git')).toBe('On another machine: git-mesh join /srv/git/team.git');
    expect(line('/srv/a b$(id).git')).toBe("On another machine: git-mesh join '/srv/a b$(id).git'");
    expect(membershipView('joined')(made('/srv/git/team.git'), context).text).not.toContain('On another');
    expect(membershipView('made')({ ...made(''), remotes: [] }, context).text).not.toContain('On another');
  });

  it('says of a machine that may only read that it does, with what that means', () => {
    const reading = { mesh: { id: 'X', name: 'team' }, machine: 'r', store: '/s', remotes: [], writable: false, warning: 'read only\u001b[2J' } as unknown as MembershipResult; // prettier-ignore
    const view = membershipView('joined')(reading, context);
    expect(view.text).toMatch(/^Joined the mesh team as r, reading only\.$/m);
    expect(view.text).not.toContain('Next');
    expect(view.warnings).toEqual([expect.stringMatching(/^read only/)]);
    expectHarmless(allText(view));
  });

  it('cuts no command that is to be run, however long the paths in it are', () => {
    const path = `/srv/${'a long folder/'.repeat(80)}team.git`;
    const run = `git --git-dir '${path}' update-ref -d refs/heads/mesh/laptop`;
    const error = { name: 'push_refused', message: `Remote origin refused it: run ${run}` };
    const remotes = [{ name: 'origin', url: path, state: 'error', last_ok_at: null, next_try_at: null, queued: 0, error }]; // prettier-ignore
    const problem = { kind: 'x', message: `first ${run}`, fix: `then ${run}` };
    const status = { mesh: { id: 'X', name: 'team' }, machine: 'studio', store: '/s', format: 1, policy: 'open', worker: null, remotes, agents: { alive: 0, known: 0 }, journal: { highest: 1, entries: 1 }, problems: [problem] }; // prettier-ignore
    const narrow = { ...context, columns: 80 };
    const { text } = statusView(status as never, narrow);
    expect(text.split('\n').filter((line) => line.endsWith(run))).toHaveLength(3);
    expect(text).toContain(`remote   origin ${path}\n`);
    expect(doctorView({ ok: false, problems: [problem] }, narrow).text).toContain(`fix: then ${run}`);
    const made = { mesh: { id: 'X', name: 'team' }, machine: 'studio', store: '/s', remotes, writable: true };
    expect(membershipView('made')(made as never, narrow).text).toContain(`git-mesh join '${path}'\n`);
    expect(syncWarnings({ ...offline, error }, narrow)[0]).toContain(run);
  });

  it('counts one thing as one', () => {
    const status = { mesh: { id: 'X', name: 'team' }, machine: 'studio', store: '/s', format: 1, policy: 'open', worker: null, remotes: [], agents: { alive: 0, known: 0 }, journal: { highest: 1, entries: 1 }, problems: [] }; // prettier-ignore
    expect(statusView(status as never, context).text).toContain('journal  1 entry, last message #1');
    const two = { ...status, journal: { highest: 1, entries: 2 } };
    expect(statusView(two as never, context).text).toContain('2 entries');
    expect(syncWarnings({ ...offline, queued: 1 }, context)[0]).toContain('1 commit waiting');
  });

  it('words what the use cases advise for a command line', () => {
    const preview = { preview: true, record: agent, next: 'Nothing was announced. Call agent_checkin again with confirm: true to do it.' } as unknown as CheckinResult; // prettier-ignore
    expect(checkinView(preview, context).text).toContain('Run it again without --dry-run to do it.');
    const sent = { id: 'X', message_id: 1, to: 'laptop', to_agent: null, msg_type: 'note', recipients: [], warning: 'agents_list shows it' } as unknown as SendResult; // prettier-ignore
    expect(sendView(syncOk)(sent, context).warnings).toEqual(['git mesh agents shows it']);
  });

  it('tells of a refusing remote once, and that nothing is out of reach', () => {
    const refused = { ...offline, error: { name: 'push_refused', message: 'Remote origin refused it: protected.' } };
    const sent = { id: 'X', message_id: 1, to: 'laptop', to_agent: null, msg_type: 'note', recipients: [], warning: 'Nobody is there. It is stored here, but it does not leave this machine: Remote origin refused it: other words.' } as unknown as SendResult; // prettier-ignore
    expect(sendView(refused)(sent, context).warnings).toEqual([
      'Nobody is there.',
      'what is stored here does not leave this machine (2 commits waiting): Remote origin refused it: protected. See git-mesh status for what to do.',
    ]);
  });

  it('shows for a remote what is wrong, since when, what waits, when it is tried again and what to do', () => {
    const error = { name: 'push_refused', message: 'Remote origin refused refs/heads/mesh/studio: protected.' };
    const remotes = [{ name: 'origin', url: '/srv/hub.git', state: 'error', last_ok_at: at(90), next_try_at: at(-30), queued: 2, error }]; // prettier-ignore
    const problems = [
      { kind: 'push_refused', message: `remote origin: ${error.message}`, fix: 'ask' },
      { kind: 'wrong_key', machine: 'laptop', message: 'no', fix: 'ask laptop' },
    ];
    const status = { mesh: { id: 'X', name: 'team' }, machine: 'studio', store: '/s', format: 1, policy: 'open', worker: null, remotes, agents: { alive: 0, known: 0 }, journal: { highest: 1, entries: 1 }, problems }; // prettier-ignore
    const lines = statusView(status as never, context).text.split('\n');
    const from = lines.findIndex((line) => line.startsWith('remote'));
    expect(lines.slice(from, from + 5)).toEqual([
      'remote   origin /srv/hub.git',
      '         error, reached 1 min ago, 2 commits to push',
      '         push_refused: Remote origin refused refs/heads/mesh/studio: protected.',
      expect.stringMatching(/^ {9}to do: ask whoever runs the repository to let this machine push its own branch/),
      '         next try in 30 s',
    ]);
    expect(lines.filter((line) => line.startsWith('✗'))).toEqual(['✗ wrong_key [laptop]: no']);
  });

  it('names a problem with its fix', () => {
    const problems = [
      { kind: 'bad_file', machine: 'mallory', path: 'presence/x.yaml', message: 'broken', fix: 'ask them' },
    ];
    expect(doctorView({ ok: false, problems }, context).text).toBe(
      '1 problem:\n✗ bad_file [mallory presence/x.yaml]: broken\n  fix: ask them',
    );
  });
});

describe('keys and leaving', () => {
  const machine = 'studio' as MembershipResult['machine'];
  it('says what a rotation did, and what it would do', () => {
    const next = 'Nothing has changed. Call agent_mesh_rotate_key again with confirm: true to make a new key.';
    const done = rotateKeyView({ preview: false, machine, key: 'SHA256:new', previous: 'SHA256:old' }, context);
    expect(done.text).toBe('The key of studio is SHA256:new now.\nWhat SHA256:old signs from now on is not accepted.');
    expect(rotateKeyView({ preview: true, machine, key: null, previous: 'SHA256:old', next }, context).text).toBe(
      'Would make a new key for studio, whose key is SHA256:old.\n' +
        'Nothing has changed. Run it again without --dry-run to make a new key.',
    );
  });

  it('says who is checked out by leaving', () => {
    const qa = 'qa' as CheckinDone['agent_id'];
    expect(leaveView({ preview: false, machine, agents: [qa] }, context).text).toBe(
      'studio has left the mesh; checked out qa.',
    );
    expect(leaveView({ preview: true, machine, agents: [qa] }, context).text).toBe(
      'studio would leave the mesh; that checks out qa.',
    );
    expect(leaveView({ preview: true, machine, agents: [] }, context).text).toBe(
      'studio would leave the mesh; no agent is checked in.',
    );
  });
});

describe('an ended freeze', () => {
  it.each([
    ['*', 'Ended the freeze of shop by studio. #8'],
    ['laptop', 'Ended the freeze of shop by studio on laptop alone. #8'],
  ])('that was cleared for %s is said to have ended there', (to, text) => {
    const freezes = [{ repo: 'shop', agent: null, machine: 'studio' }];
    const result = { freezes, sent: [{ to, message_id: 8 }] } as unknown as Parameters<
      ReturnType<typeof unfreezeView>
    >[0];
    expect(unfreezeView(syncOk)(result, context).text).toBe(text);
  });
});
