import type { HistoryResult, PartialHistory, SyncSummary } from '@git-mesh/core';
import { counted } from '../counted.js';
import type { Render, ViewContext } from '../view.js';
import { oneLine } from './one-line.js';
import { syncView } from './sync.js';

const maxNamed = 5;

/** What this store lacks of the history, and how to get it. */
export function missingHistory({ older_commits: older, machines }: PartialHistory): string {
  const named = machines.slice(0, maxNamed).join(', ');
  const more = machines.length > maxNamed ? ` and ${machines.length - maxNamed} more` : '';
  return `${counted(older, 'older commit', 'older commits')} of ${named}${more} ${older === 1 ? 'is' : 'are'} not in this store (git-mesh sync --history gets them)`;
}

/** The result of an exchange that also asked for the whole history. */
export const historyView: Render<SyncSummary & { history: HistoryResult }> = (result, context) => {
  const sync = syncView(result, context);
  const warnings = [...(sync.warnings ?? []), ...result.history.problems.flatMap((one) => problemLine(one, context))];
  return {
    text: [sync.text, cameLine(result.history)].filter((line) => line !== '').join('\n'),
    kind: 'confirmation',
    warnings,
  };
};

function cameLine({ complete, fetched, history }: HistoryResult): string {
  const came = fetched === 0 ? '' : `${counted(fetched, 'older commit', 'older commits')} fetched and checked. `;
  if (complete) return `${came}The whole history is here.`;
  return history === undefined ? came : `${came}Still missing: ${missingHistory(history)}.`;
}

function problemLine({ message, fix }: HistoryResult['problems'][number], context: ViewContext): string[] {
  return [oneLine(message, context), ...(fix === undefined ? [] : [`to do: ${fix}`])];
}

/** For people who take the end of the log for the beginning of the mesh. */
export const endsHere = (machines: readonly string[]): string =>
  `older history of ${machines.join(', ')} is not in this store: git-mesh sync --history gets it`;
