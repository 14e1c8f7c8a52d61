import type { AckResult } from '@git-mesh/core';
import { cliWords } from '../cli-words.js';
import type { Render } from '../view.js';

const numbers = (ids: readonly number[]): string => ids.map((id) => `#${id}`).join(' ');

export const ackView: Render<AckResult> = (result, { own }) => {
  const acked = result.preview ? result.would_ack : result.acked;
  const verb = result.preview ? 'Would acknowledge' : 'Acknowledged';
  const lines = [acked.length === 0 ? 'Nothing to acknowledge.' : `${verb} ${numbers(acked)}.`];
  if (result.already_acked.length > 0) lines.push(`Acknowledged before: ${numbers(result.already_acked)}.`);
  if (result.preview) lines.push(own(cliWords(result.next)));
  const warnings = result.unknown.length > 0 ? [`not in this inbox: ${numbers(result.unknown)}`] : [];
  return { text: lines.join('\n'), kind: result.preview ? 'answer' : 'confirmation', warnings };
};
