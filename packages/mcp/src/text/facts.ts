import type { AgentView, FreezeView, SyncSummary } from '@git-mesh/core';
import type { TextContext } from '../mesh-tool.js';
import { ageText, durationText } from './age.js';
import { quoted } from './quoted.js';

/** `1 message`, `2 messages`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** `#11, #12` or `none`. */
export function numbers(list: readonly number[]): string {
  return list.length === 0 ? 'none' : list.map((n) => `#${n}`).join(', ');
}

/** `studio/release`, or `studio` where no agent is named. */
export function who(machine: string, agent: string | null): string {
  return agent === null ? machine : `${machine}/${agent}`;
}

/** One line about an agent; what it says of itself stands in quotation marks. */
export function agentLine(agent: AgentView, context: TextContext): string {
  const status =
    agent.status === null
      ? null
      : `status ${quoted(agent.status, context)}${agent.status_age_s === null ? '' : ` for ${durationText(agent.status_age_s)}`}`;
  const facts = [
    agent.alive ? 'alive' : 'gone',
    agent.role === null ? null : `role ${quoted(agent.role, context, 80)}`,
    agent.repo === null ? null : `repo ${quoted(agent.repo, context, 120)}`,
    agent.caps.length === 0 ? null : `caps ${agent.caps.map((cap) => quoted(cap, context, 60)).join(', ')}`,
    status,
    `last active ${ageText(agent.last_activity_at, context.nowMs)}`,
    `${agent.alive ? 'expires' : 'expired'} ${ageText(agent.expires_at, context.nowMs)}`,
  ];
  return `${who(agent.machine, agent.agent_id)}: ${facts.filter((fact) => fact !== null).join('; ')}`;
}

/** A heading and a line for each freeze in force; no line at all where there is none. */
export function freezeLines(freezes: readonly FreezeView[], context: TextContext): string[] {
  if (freezes.length === 0) return [];
  const lines = freezes.map((freeze) => {
    const scope = freeze.repo === null ? 'every repo' : `repo ${quoted(freeze.repo, context, 120)}`;
    const number = freeze.message_id === null ? freeze.id : `#${freeze.message_id}`;
    const reason = freeze.reason === null ? '' : `, reason given: ${quoted(freeze.reason, context)}`;
    const times = `${ageText(freeze.since, context.nowMs)}, until ${freeze.expires_at}`;
    return `- ${number} ${scope}, by ${who(freeze.machine, freeze.agent)} ${times}${reason}`;
  });
  return [`FREEZES IN FORCE: ${freezes.length}`, ...lines];
}

/** How far the answer can be trusted to be current. */
export function syncLine(sync: SyncSummary, context: TextContext): string {
  if (sync.state === 'none') return 'Sync: this mesh has no remote; only this machine is seen.';
  const last = sync.last_ok_at === null ? 'never yet' : ageText(sync.last_ok_at, context.nowMs);
  const queued = sync.queued === 0 ? '' : `; ${counted(sync.queued, 'commit')} waiting to go out`;
  const problem =
    sync.error === null
      ? ''
      : `; ${context.visible(sync.error.name, 60)}: ${quoted(sync.error.message, context, 2000)}`;
  const warning = sync.state === 'ok' ? '' : ' – what other machines did since then is not seen here';
  return `Sync: ${sync.state}, last exchange ${last}${queued}${problem}${warning}`;
}
