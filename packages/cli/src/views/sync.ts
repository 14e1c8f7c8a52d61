import type { Problem, SyncSummary } from '@git-mesh/core';
import { counted } from '../counted.js';
import type { Render } from '../view.js';
import { oneLine } from './one-line.js';
import { syncWarnings } from './sync-warnings.js';

/** With what the exchange found besides. */
export type SyncOutcome = SyncSummary & { problems?: readonly Problem[] };

export const syncView: Render<SyncOutcome> = (sync, context) => {
  const own = syncWarnings(sync, context);
  // The summary's own error is not said twice.
  const besides = (sync.problems ?? []).filter(
    ({ message }) => sync.error === null || !message.includes(sync.error.message),
  );
  const found = besides.map(({ message }) => context.own(message));
  const warnings = own.length > 0 ? [...own, ...found] : own;
  if (sync.state === 'none')
    return { text: 'This mesh has no remote: there is nothing to exchange.', kind: 'confirmation' };
  if (warnings.length > 0) return { text: '', kind: 'confirmation', warnings };
  const waiting =
    sync.queued === 0 ? '' : ` ${counted(sync.queued, 'commit of ours waits', 'commits of ours wait')} to go out.`;
  const note = [...(sync.error === null ? [] : [oneLine(sync.error.message, context)]), ...found];
  const done = found.length === 0 ? 'Up to date.' : 'Exchanged.';
  return { text: `${done}${waiting}`, kind: 'confirmation', warnings: note };
};
