import type { TraceResult } from '@git-mesh/core';
import type { Render } from '../view.js';
import { logLines } from './log.js';

export const traceView: Render<TraceResult> = ({ id, events }, context) => {
  const line = logLines(context, { exact: true, known: events });
  return { text: [context.style.dim(id), ...events.map(line)].join('\n'), kind: 'answer' };
};
