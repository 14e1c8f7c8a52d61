import type { CheckinResult } from '@git-mesh/core';
import { cliWords } from '../cli-words.js';
import { relativeTime } from '../relative-time.js';
import type { Render } from '../view.js';
import { freezeLines } from './freezes.js';
import { syncWarnings } from './sync-warnings.js';

export const checkinView: Render<CheckinResult> = (result, context) => {
  const { style, nowMs, visible, own } = context;
  const record = result.preview ? result.record : result;
  const facts = [
    record.role === null ? null : `role ${visible(record.role, 60)}`,
    record.repo === null ? null : `repo ${visible(record.repo, 100)}`,
    record.caps.length === 0 ? null : `caps ${record.caps.map((cap) => visible(cap, 40)).join(', ')}`,
    record.status === null ? null : `status ${visible(record.status)}`,
  ].filter((fact) => fact !== null);
  const who = style.bold(`${record.agent_id}@${record.machine}`);
  const until = `expires ${relativeTime(record.expires_at, nowMs)}`;
  const described = [until, ...facts].join(' · ');
  if (result.preview) {
    return { text: `Would check in ${who}: ${described}\n${own(cliWords(result.next))}`, kind: 'answer' };
  }

  const lines = [
    `${result.renewed ? 'Renewed' : 'Checked in'} ${who}: ${described}`,
    ...freezeLines(result.freezes, context),
  ];
  if (result.missed.count > 0) {
    lines.push(`${result.missed.count} sent since the last session and not in this inbox: git-mesh log --unacked`);
  }
  const warnings = (result.also_checked_in ?? []).map(
    ({ pid, since }) => `${record.agent_id} is also checked in by process ${pid} (${relativeTime(since, nowMs)})`,
  );
  if (result.herdr_wake === 'unsupported') warnings.push('waking a Herdr pane is not supported on this platform');
  return {
    text: lines.join('\n'),
    kind: 'confirmation',
    warnings: [...warnings, ...syncWarnings(result.sync, context)],
  };
};
