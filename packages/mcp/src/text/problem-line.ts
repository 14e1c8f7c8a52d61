import type { Problem } from '@git-mesh/core';
import type { TextContext } from '../mesh-tool.js';
import { ownText, quoted } from './quoted.js';

/** One line about what is wrong, with where it is and what mends it. */
export function problemLine(problem: Problem, context: TextContext): string {
  const machine = problem.machine === undefined ? '' : ` on ${quoted(problem.machine, context, 60)}`;
  const path = problem.path === undefined ? '' : ` in ${quoted(problem.path, context, 200)}`;
  const fix = problem.fix === undefined ? '' : ` Remedy: ${ownText(problem.fix, context)}`;
  return `- ${problem.kind}${machine}${path}: ${quoted(problem.message, context, 2000)}${fix}`;
}
