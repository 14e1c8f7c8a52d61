import type { TraceResult } from '@git-mesh/core';
import type { Render } from '../view.js';
import { logLine } from './log.js';

export const traceView: Render<TraceResult> = ({ id, events }, context) => ({
  text: [context.style.dim(id), ...events.map((event) => logLine(event, context))].join('\n'),
  kind: 'answer',
});
