import type { AgentsResult, AgentView } from '@git-mesh/core';
import { durationText, relativeTime } from '../relative-time.js';
import { renderTable, type Cell, type Column } from '../table.js';
import type { Render, ViewContext } from '../view.js';
import { freezeLines } from './freezes.js';
import { problemLines } from './problems.js';
import { listLines } from './list-lines.js';
import { syncWarnings } from './sync-warnings.js';

const columns: readonly Column[] = [
  { header: 'AGENT', leads: true },
  { header: 'MACHINE', leads: true },
  { header: 'ROLE', shrinks: true },
  { header: 'REPO', shrinks: true },
  { header: 'STATUS', shrinks: true },
  { header: 'FOR' },
  { header: 'ACTIVE' },
  { header: 'EXPIRES' },
];

function row(agent: AgentView, { style, nowMs, visible }: ViewContext): Cell[] {
  const paint = agent.alive ? style.green : style.dim;
  return [
    { text: agent.agent_id, paint },
    agent.machine,
    visible(agent.role ?? '', 60),
    visible(agent.repo ?? '', 100),
    visible(agent.status ?? '', 200),
    agent.status_age_s === null ? '' : durationText(agent.status_age_s),
    relativeTime(agent.last_activity_at, nowMs),
    { text: agent.alive ? relativeTime(agent.expires_at, nowMs) : 'gone', paint: agent.alive ? String : style.red },
  ];
}

export const agentsView: Render<AgentsResult> = (result, context) => {
  const { style, nowMs, visible } = context;
  const lines = freezeLines(result.freezes, context);
  if (result.agents.length === 0) lines.push('No agents are checked in.');
  else {
    const rows = result.agents.map((agent) => row(agent, context));
    lines.push(renderTable(columns, rows, { availableColumns: context.columns, paintHeader: style.dim }));
  }
  const machines = result.machines.map((machine) => {
    const own = machine.handle === result.machine;
    const notes = [
      { text: own ? 'this machine' : `seen ${relativeTime(machine.last_seen_at, nowMs)}`, paint: String },
      machine.left_at === undefined ? null : { text: 'left', paint: style.dim },
      machine.label === null ? null : { text: visible(machine.label, 60), paint: String },
      machine.verified === 'unverified' && !own ? { text: 'unverified', paint: style.yellow } : null,
    ].filter((note) => note !== null);
    return {
      text: `${machine.handle} (${notes.map(({ text }) => text).join(', ')})`,
      painted: `${machine.handle} (${notes.map(({ text, paint }) => paint(text)).join(', ')})`,
    };
  });
  lines.push(...listLines('Machines: ', machines, context));
  const problems = result.problems ?? [];
  if (problems.length > 0) lines.push('', ...problemLines(problems, context));
  return { text: lines.join('\n'), kind: 'answer', warnings: syncWarnings(result.sync, context) };
};
