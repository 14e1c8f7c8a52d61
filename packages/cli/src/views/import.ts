import type { ImportResult } from '@git-mesh/core';
import { counted } from '../counted.js';
import type { Render } from '../view.js';
import { oneLine } from './one-line.js';

export const importView: Render<ImportResult> = (result, context) => {
  const { branches, commits, arrived, rejected } = result;
  const warnings = rejected.map(
    ({ machine, message }) =>
      `the branch of ${oneLine(machine, context)} was not accepted: ${oneLine(message, context)}`,
  );
  if (branches === 0 && arrived === 0) {
    return { text: 'Nothing in it is new here.', kind: 'confirmation', warnings };
  }
  const moved = `${counted(branches, 'branch', 'branches')} moved by ${counted(commits, 'commit', 'commits')}`;
  const messages = `${counted(arrived, 'message', 'messages')} arrived for this machine`;
  return { text: `${moved}, ${messages}.`, kind: 'confirmation', warnings };
};
