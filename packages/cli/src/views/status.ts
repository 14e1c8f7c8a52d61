import { remoteAdvice } from '@git-mesh/core';
import type { RemoteStatus, StatusResult } from '@git-mesh/core';
import { counted } from '../counted.js';
import { relativeTime } from '../relative-time.js';
import type { Render, ViewContext } from '../view.js';
import { missingHistory } from './history.js';
import { problemLines } from './problems.js';

/** A remote and how the last exchange with it went. */
export function remoteLines(remote: RemoteStatus, { style, nowMs, visible, own }: ViewContext): string[] {
  const paint = { ok: style.green, error: style.red, unknown: style.yellow }[remote.state];
  const seen = remote.last_ok_at === null ? 'never reached' : `reached ${relativeTime(remote.last_ok_at, nowMs)}`;
  const queued = remote.queued === 0 ? '' : `, ${counted(remote.queued, 'commit', 'commits')} to push`;
  const lines = [
    `remote   ${visible(remote.name, 60)} ${own(remote.url)}`,
    `         ${paint(remote.state)}, ${seen}${queued}`,
  ];
  if (remote.error !== null) {
    lines.push(
      `         ${style.red(visible(remote.error.name, 60))}: ${own(remote.error.message)}`,
      `         ${style.green('to do:')} ${remoteAdvice(remote.error)}`,
    );
    if (remote.next_try_at !== null) {
      const due = Date.parse(remote.next_try_at) <= nowMs;
      lines.push(`         next try ${due ? 'at the next exchange' : relativeTime(remote.next_try_at, nowMs)}`);
    }
  }
  return lines;
}

export const statusView: Render<StatusResult> = (status, context) => {
  const { style, nowMs, visible } = context;
  const worker =
    status.worker === null
      ? 'none (commands synchronise by themselves)'
      : `pid ${status.worker.pid}, since ${relativeTime(status.worker.since, nowMs)}`;
  const lines = [
    `mesh     ${style.bold(visible(status.mesh.name, 100))} (policy ${status.policy}, format ${status.format})`,
    `machine  ${style.bold(status.machine)}`,
    `store    ${status.store}`,
    `worker   ${worker}`,
    ...(status.remotes.length === 0
      ? ['remote   none']
      : status.remotes.flatMap((remote) => remoteLines(remote, context))),
    `agents   ${status.agents.alive} alive, ${status.agents.known} known`,
    `journal  ${counted(status.journal.entries, 'entry', 'entries')}, last message #${status.journal.highest}`,
  ];
  if (status.history !== undefined) lines.push(`history  ${missingHistory(status.history)}`);
  // What is wrong with a remote stands with the remote.
  const said = new Set(
    status.remotes.flatMap(({ name, error }) => (error === null ? [] : [`remote ${name}: ${error.message}`])),
  );
  const more = status.problems.filter(({ message }) => !said.has(message));
  if (more.length > 0) lines.push('', ...problemLines(more, context));
  if (status.problems.length > 0) lines.push('More: git-mesh doctor');
  return { text: lines.join('\n'), kind: 'answer' };
};
