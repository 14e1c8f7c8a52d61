import type { SyncSummary, UnsendResult } from '@git-mesh/core';
import type { Render } from '../view.js';
import { syncWarnings } from './sync-warnings.js';

/** `sync` is the state after the command tried to get it out. */
export function unsendView(sync: SyncSummary): Render<UnsendResult> {
  return (result, context) => {
    const whole = result.to === '*' ? 'every machine' : result.to;
    const to = result.to_agent === null ? whole : `${result.to_agent}@${result.to}`;
    const text = `Took back ${context.style.bold(`#${result.message_id}`)} ${context.style.cyan(result.msg_type)} to ${to}.`;
    return { text, kind: 'confirmation', warnings: syncWarnings(sync, context) };
  };
}
