import type { RotateKeyResult } from '@git-mesh/core';
import { cliWords } from '../cli-words.js';
import type { Render } from '../view.js';

export const rotateKeyView: Render<RotateKeyResult> = (result, { style, visible }) => {
  const { key, machine, next, previous, warning } = result;
  const lines =
    key === null
      ? [`Would make a new key for ${style.bold(machine)}, whose key is ${previous}.`]
      : [`The key of ${style.bold(machine)} is ${key} now.`, `What ${previous} signs from now on is not accepted.`];
  const warnings = warning === undefined ? [] : [visible(cliWords(warning), 1000)];
  if (next !== undefined) lines.push(visible(cliWords(next), 300));
  return { text: lines.join('\n'), kind: result.preview ? 'answer' : 'confirmation', warnings };
};
