import type { RotateKeyResult } from '@git-mesh/core';
import { cliWords } from '../cli-words.js';
import type { Render } from '../view.js';

export const rotateKeyView: Render<RotateKeyResult> = (result, { style, own }) => {
  const { key, machine, next, previous, warning } = result;
  const lines =
    key === null
      ? [`Would make a new key for ${style.bold(machine)}, whose key is ${previous}.`]
      : [`The key of ${style.bold(machine)} is ${key} now.`, `What ${previous} signs from now on is not accepted.`];
  const warnings = warning === undefined ? [] : [own(cliWords(warning))];
  if (next !== undefined) lines.push(own(cliWords(next)));
  return { text: lines.join('\n'), kind: result.preview ? 'answer' : 'confirmation', warnings };
};
