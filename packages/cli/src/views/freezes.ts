import type { FreezeView } from '@git-mesh/core';
import { relativeTime } from '../relative-time.js';
import type { ViewContext } from '../view.js';

/** One line for each freeze in force. */
export function freezeLines(freezes: readonly FreezeView[], { style, nowMs, visible }: ViewContext): string[] {
  return freezes.map((freeze) => {
    const scope = freeze.repo === null ? 'every repository' : visible(freeze.repo, 100);
    const from = freeze.agent === null ? freeze.machine : `${freeze.agent}@${freeze.machine}`;
    const number = freeze.message_id === null ? '' : ` #${freeze.message_id}`;
    const reason = freeze.reason === null ? '' : `: ${visible(freeze.reason)}`;
    const times = style.dim(`(${relativeTime(freeze.since, nowMs)}, ends ${relativeTime(freeze.expires_at, nowMs)})`);
    return `${style.red(`frozen${number}`)} ${scope}, by ${visible(from)}${reason} ${times}`;
  });
}
