import type { CheckoutResult } from '@git-mesh/core';
import { cliWords } from '../cli-words.js';
import type { Render } from '../view.js';

export const checkoutView: Render<CheckoutResult> = (result, { style, visible }) => {
  const who = style.bold(`${result.agent_id}@${result.machine}`);
  if (!result.preview) return { text: `Checked out ${who}.`, kind: 'confirmation' };
  const next = result.next === undefined ? '' : `\n${visible(cliWords(result.next), 300)}`;
  return { text: `Would check out ${who}.${next}`, kind: 'answer' };
};
