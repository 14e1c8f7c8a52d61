import { refusalWarning } from '@git-mesh/core';
import type { SyncSummary } from '@git-mesh/core';
import { counted } from '../counted.js';
import { relativeTime } from '../relative-time.js';
import type { ViewContext } from '../view.js';
import { oneLine } from './one-line.js';

/** What a reader must know about how fresh the answer is: nothing while all remotes answer. */
export function syncWarnings(sync: SyncSummary, context: ViewContext): string[] {
  if (sync.state === 'ok' || sync.state === 'none') return [];
  const refused = refusal(sync, context);
  if (refused !== null) return [refused];
  // A remote that answered and refused is one of these too: the reason tells which.
  const scope = sync.state === 'offline' ? 'not synchronised' : 'not synchronised with every remote';
  const last =
    sync.last_ok_at === null ? 'never before' : `last exchange ${relativeTime(sync.last_ok_at, context.nowMs)}`;
  const waiting = sync.queued > 0 ? `, ${counted(sync.queued, 'commit', 'commits')} waiting to go out` : '';
  const reason = sync.error === null ? '' : `: ${oneLine(sync.error.message, context)}`;
  return [`${scope} (${last}${waiting})${reason.replace(/\.$/, '')}. See git-mesh status for what to do.`];
}

/** Where a remote answers and takes nothing from us, nothing is out of reach: what is read is fresh. */
function refusal(sync: SyncSummary, context: ViewContext): string | null {
  if (refusalWarning(sync) === null || sync.error === null) return null;
  const waiting = sync.queued > 0 ? ` (${counted(sync.queued, 'commit', 'commits')} waiting)` : '';
  const what =
    sync.state === 'partial'
      ? 'one of the remotes takes nothing from this machine'
      : 'what is stored here does not leave this machine';
  return `${what}${waiting}: ${oneLine(sync.error.message, context)} See git-mesh status for what to do.`;
}
