import type { ExportResult } from '@git-mesh/core';
import { counted } from '../counted.js';
import type { Render } from '../view.js';
import { oneLine } from './one-line.js';

/** @param sinceLast the name that was given with `--since-last` */
export function exportView(sinceLast: string | undefined): Render<ExportResult> {
  return (result, context) => {
    const warnings = result.left_out.map(
      ({ machine, message }) => `the branch of ${machine} is not in it: ${oneLine(message, context)}`,
    );
    if (result.branches === 0) {
      const since = sinceLast === undefined ? '' : ` since the last export as ${context.visible(sinceLast)}`;
      return { text: `Nothing new${since}: no file was written.`, kind: 'confirmation', warnings };
    }
    const what = `${counted(result.branches, 'branch', 'branches')}, ${counted(result.commits, 'commit', 'commits')}`;
    return { text: `Wrote ${result.file}: ${what}.`, kind: 'confirmation', warnings };
  };
}
