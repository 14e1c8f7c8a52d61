import type { InviteResult } from '@git-mesh/core';
import { cliWords } from '../cli-words.js';
import type { Render } from '../view.js';

export const inviteView: Render<InviteResult> = (result, { style, visible, nowMs, own }) => {
  const { code, expires_at: expires, machine, key } = result;
  const mesh = style.bold(visible(result.mesh.name, 100));
  if (code === null || expires === null) {
    const next = result.next === undefined ? '' : `\n${own(cliWords(result.next))}`;
    return { text: `Would make an invitation to the mesh ${mesh} from ${machine}.${next}`, kind: 'answer' };
  }
  const minutes = Math.max(0, Math.round((Date.parse(expires) - nowMs) / 60_000));
  const lines = [
    `An invitation to the mesh ${mesh}, for one machine. There, within ${minutes} minutes (until ${expires}):`,
    '',
    // Nothing around it: it is copied as a whole.
    `git-mesh join ${code}`,
    '',
    'Whoever has the code can join: give it to nobody else, and post it nowhere.',
    `  inviter  ${machine}, ${key}`,
    `  admits   ${machine} does, the next time it synchronises before then: leave its worker running, or run git-mesh sync`,
  ];
  return { text: lines.join('\n'), kind: 'answer' };
};
