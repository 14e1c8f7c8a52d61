import type { LeaveResult } from '@git-mesh/core';
import { cliWords } from '../cli-words.js';
import type { Render } from '../view.js';

export const leaveView: Render<LeaveResult> = (result, { style, own }) => {
  const { agents, machine, next, preview } = result;
  const checkedOut = agents.length === 0 ? 'no agent is checked in' : `checks out ${agents.join(', ')}`;
  const lines = [
    preview
      ? `${style.bold(machine)} would leave the mesh; ${agents.length === 0 ? checkedOut : `that ${checkedOut}`}.`
      : `${style.bold(machine)} has left the mesh${agents.length === 0 ? '' : `; checked out ${agents.join(', ')}`}.`,
    ...(next === undefined ? [] : [own(cliWords(next))]),
  ];
  return { text: lines.join('\n'), kind: preview ? 'answer' : 'confirmation' };
};
