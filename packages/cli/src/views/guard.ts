import type { GuardResult } from '@git-mesh/core';
import type { Render } from '../view.js';
import { freezeLines } from './freezes.js';

export const guardView: Render<GuardResult> = (result, context) =>
  result.frozen
    ? { text: freezeLines(result.freezes, context).join('\n'), kind: 'answer' }
    : { text: 'No freeze is in force.', kind: 'confirmation' };
