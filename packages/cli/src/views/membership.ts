import { shellWord } from '@git-mesh/core';
import type { MembershipResult } from '@git-mesh/core';
import type { Render } from '../view.js';

/** For `init` and `join`, which differ in one word. */
export function membershipView(verb: 'made' | 'joined'): Render<MembershipResult> {
  return (result, { style, visible, own }) => {
    const { warning, writable } = result;
    const readsOnly = !writable && warning !== undefined;
    const name = style.bold(visible(result.mesh.name, 100));
    const lines = [
      `${verb === 'made' ? 'Made' : 'Joined'} the mesh ${name} as ${style.bold(result.machine)}${readsOnly ? ', reading only' : ''}.`,
      `  store   ${result.store}`,
      ...result.remotes.map((remote) => `  remote  ${own(remote.url)}`),
    ];
    const [remote] = result.remotes;
    if (verb === 'made' && remote !== undefined) {
      lines.push(`On another machine: git-mesh join ${shellWord(own(remote.url))}`);
    }
    if (result.invited !== undefined) lines.push(`  invited ${admissionOf(result.invited)}`);
    // Nobody would see the agent.
    if (!readsOnly) lines.push(`Next: git-mesh checkin <agent>, or add the server to an agent: git-mesh help mcp`);
    const why =
      remote === undefined
        ? 'this machine has no remote: the others see it once they import what git-mesh export writes here'
        : 'the remote cannot be written from here: others will not see this machine';
    const warnings = warning !== undefined ? [own(warning)] : writable ? [] : [why];
    return { text: lines.join('\n'), kind: 'confirmation', warnings };
  };
}

function admissionOf({ by, policy, admitted }: NonNullable<MembershipResult['invited']>): string {
  if (admitted)
    return policy === 'roster' ? `by ${by}, which has admitted this machine` : `by ${by}, which attests its key`;
  return policy === 'roster'
    ? `by ${by}; admission is awaited: until ${by} has synchronised, nobody reads what is sent from here`
    : `by ${by}, which attests this machine’s key the next time it synchronises`;
}
