import type { SyncSummary } from '@git-mesh/core';
import type { UnfreezeResult } from '../commands/unfreeze.js';
import type { Render } from '../view.js';
import { syncWarnings } from './sync-warnings.js';

/** `sync` is the state after the command tried to get it out. */
export function unfreezeView(sync: SyncSummary): Render<UnfreezeResult> {
  return ({ freezes, sent }, context) => {
    const lines = freezes.map((freeze, at) => {
      const scope = freeze.repo === null ? 'every repository' : context.visible(freeze.repo, 100);
      const from = freeze.agent === null ? freeze.machine : `${freeze.agent}@${freeze.machine}`;
      const number = sent[at] === undefined ? '' : ` ${context.style.dim(`#${sent[at].message_id}`)}`;
      const to = sent[at]?.to ?? '*';
      // A clear ends it where it was sent to, and the machine that looks here may still be held.
      const where = to === '*' ? '' : ` on ${context.visible(to)} alone`;
      return `Ended the freeze of ${scope} by ${context.visible(from)}${where}.${number}`;
    });
    return { text: lines.join('\n'), kind: 'confirmation', warnings: syncWarnings(sync, context) };
  };
}
