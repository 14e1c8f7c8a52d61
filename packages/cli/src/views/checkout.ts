import type { CheckoutResult } from '@git-mesh/core';
import { cliWords } from '../cli-words.js';
import type { Render } from '../view.js';

export const checkoutView: Render<CheckoutResult> = (result, { style, own }) => {
  const who = style.bold(`${result.agent_id}@${result.machine}`);
  if (!result.preview) return { text: `Checked out ${who}.`, kind: 'confirmation' };
  const next = result.next === undefined ? '' : `\n${own(cliWords(result.next))}`;
  return { text: `Would check out ${who}.${next}`, kind: 'answer' };
};
