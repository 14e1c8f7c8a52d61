import type { Problem } from '@git-mesh/core';
import type { ViewContext } from '../view.js';

/** Each problem with where it is and how it is mended. */
export function problemLines(problems: readonly Problem[], { style, visible, own }: ViewContext): string[] {
  return problems.flatMap((problem) => {
    const places = [problem.machine, problem.path].flatMap((place) =>
      place === undefined ? [] : [visible(place, 200)],
    );
    const where = places.length === 0 ? '' : ` [${places.join(' ')}]`;
    const line = `${style.red('✗')} ${visible(problem.kind, 60)}${where}: ${own(problem.message)}`;
    return problem.fix === undefined ? [line] : [line, `  ${style.green('fix:')} ${own(problem.fix)}`];
  });
}
