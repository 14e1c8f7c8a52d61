import type { SyncSummary } from '@git-mesh/core';
import { counted } from '../counted.js';
import type { Render } from '../view.js';
import { oneLine } from './one-line.js';
import { syncWarnings } from './sync-warnings.js';

export const syncView: Render<SyncSummary> = (sync, context) => {
  const warnings = syncWarnings(sync, context);
  if (sync.state === 'none')
    return { text: 'This mesh has no remote: there is nothing to exchange.', kind: 'confirmation' };
  if (warnings.length > 0) return { text: '', kind: 'confirmation', warnings };
  const waiting =
    sync.queued === 0 ? '' : ` ${counted(sync.queued, 'commit of ours waits', 'commits of ours wait')} to go out.`;
  const note = sync.error === null ? [] : [oneLine(sync.error.message, context)];
  return { text: `Up to date.${waiting}`, kind: 'confirmation', warnings: note };
};
