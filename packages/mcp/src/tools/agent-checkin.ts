import type { CheckinResult } from '@git-mesh/core';
import type { MeshTool, TextContext } from '../mesh-tool.js';
import {
  anyObject,
  confirm,
  described,
  flag,
  freezes,
  inputOf,
  integer,
  listOf,
  objectOf,
  outputOf,
  recordFields,
  sync,
  text,
} from '../schema-parts.js';
import { ageText } from '../text/age.js';
import { agentLine, counted, freezeLines, syncLine } from '../text/facts.js';
import { ownText } from '../text/quoted.js';

const paneOnHerdr =
  "Your own pane id ($HERDR_PANE_ID) when HERDR_ENV=1 says that you run inside Herdr. This machine then wakes you when a message arrives: it submits one fixed line to your pane with `herdr agent prompt`: '[auto-wake #2540] Hay N mensajes de Agent Mesh; llamá agent_inbox'. The prefix tells you that the mesh and not a person wrote it. Never put anything from a message here. Stays on this machine: it is never written to the repository. Leave out outside Herdr.";
const paneOnWindows =
  'Your own Herdr pane id. NOT HONOURED on Windows: waking is not available here, so the parameter is accepted, the answer says `herdr_wake: "unsupported"`, and you call agent_inbox yourself (wait_seconds waits for a message). Stays on this machine: it is never written to the repository.';

const wakeTexts = {
  registered: 'your Herdr pane is woken when a message arrives',
  off: 'off (call agent_inbox yourself)',
  unsupported: 'unsupported on this platform (call agent_inbox yourself)',
} as const;

function checkinText(result: CheckinResult, context: TextContext): string {
  if (result.preview) {
    return [
      'PREVIEW: nothing was changed. This would be announced:',
      agentLine(result.record, context),
      ownText(result.next, context),
    ].join('\n');
  }
  const { missed } = result;
  const lines = [
    result.renewed ? 'Checked in: the session goes on.' : 'Checked in: a new session.',
    agentLine(result, context),
    `Silence you can afford: ${result.ttl_seconds} s (every mesh call renews it).`,
    `Wake: ${wakeTexts[result.herdr_wake]}.`,
    ...freezeLines(result.freezes, context),
  ];
  if (missed.count > 0) {
    const shown = missed.ids.join(', ');
    const more = missed.count > missed.ids.length ? ', …' : '';
    lines.push(
      `Missed since the last session, not in this inbox: ${counted(missed.count, 'message')} (${shown}${more}).`,
    );
  }
  for (const other of result.also_checked_in ?? []) {
    lines.push(
      `WARNING: process ${other.pid} on this machine uses the same agent_id since ${ageText(other.since, context.nowMs)}; pick another unless that is you.`,
    );
  }
  return [...lines, syncLine(result.sync, context)].join('\n');
}

/** `platform` as in `process.platform`: waking a pane is not available on Windows, and the schema says so there. */
export function agentCheckin(platform: string): MeshTool<CheckinResult> {
  return {
    name: 'agent_checkin',
    title: 'Check in to the mesh',
    description:
      'Announce this session to the agents of every machine that shares the mesh (a git repository), so that they can find and message you. Your inbox holds what arrives after this. Check in again whenever your task changes: it extends the session and keeps what you leave out. Acts only with confirm: true; without it, a preview. The answer shows the freezes in force and how many messages you missed.',
    inputSchema: inputOf(
      {
        agent_id: described(
          text,
          "A stable name for this session, e.g. 'builder', 'qa', 'release': 1-64 letters, digits, '.', '_', '-'. Use the same one every time.",
        ),
        role: described(text, "What you are here for, e.g. 'builder', 'reviewer', 'release'."),
        repo: described(text, "The repo you work on, e.g. 'shop'."),
        caps: described(listOf(text), "What you can do for others, e.g. ['merge', 'deploy']."),
        status: described(
          text,
          "What you are doing RIGHT NOW, in one line, e.g. 'porting the importer', 'measuring on 3674da7e'. agents_list shows it with its age, which is how others tell working from stuck: update it when your task changes.",
        ),
        ttl_seconds: described(
          integer,
          "Seconds of silence until you count as gone, 60-86400. Left out, the role decides: 900 for 'ping' and 'verification', else 3600. Every mesh call renews your presence, so this is no interval to check in at.",
        ),
        herdr_pane: described(text, platform === 'win32' ? paneOnWindows : paneOnHerdr),
        confirm,
      },
      ['agent_id'],
    ),
    outputSchema: outputOf({
      preview: flag,
      record: described(anyObject, 'Of a preview: what would be announced, in the fields below.'),
      next: text,
      ...recordFields,
      renewed: flag,
      herdr_wake: text,
      freezes,
      missed: described(
        objectOf({ count: integer, ids: listOf(text) }),
        'Unacknowledged messages that came between your sessions; the inbox does not show them.',
      ),
      also_checked_in: listOf(objectOf({ pid: integer, since: text })),
      sync,
    }),
    // Extends what is there, takes nothing away; the freezes it shows carry reasons that others wrote.
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    call: (api, args, call) => api.checkin(args, call),
    text: checkinText,
  };
}
