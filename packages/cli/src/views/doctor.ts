import type { DoctorResult } from '@git-mesh/core';
import type { Render } from '../view.js';
import { missingHistory } from './history.js';
import { problemLines } from './problems.js';

export const doctorView: Render<DoctorResult> = (result, context) => {
  const { style } = context;
  const count = result.problems.length;
  const heading = result.ok ? style.green('All well.') : `${count} problem${count === 1 ? '' : 's'}:`;
  // Problems that are none of this machine's making may be listed while all is well here.
  const note: string[] = result.history === undefined ? [] : [`No problem: ${missingHistory(result.history)}.`];
  for (const { message, fix } of result.notices ?? []) {
    note.push(`No problem: ${context.own(message)}${fix === undefined ? '' : ` (${context.own(fix)})`}.`);
  }
  return { text: [heading, ...problemLines(result.problems, context), ...note].join('\n'), kind: 'answer' };
};
