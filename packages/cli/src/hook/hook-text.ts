import type { MentionResult } from '@git-mesh/core';

/** Named one by one; more would only be skimmed. */
const maxNamed = 5;

/**
 * States facts and counts, and not one byte of a message: text of strangers in a hook would be taken for the user's.
 * Null where there is nothing new.
 */
export function hookText({ agents }: MentionResult): string | null {
  if (agents.length === 0) return null;
  const parts = agents.slice(0, maxNamed).map(({ agent_id: agent, fresh, unread }) => {
    const before = unread > fresh ? ` (${unread} unread in all)` : '';
    return `${fresh} new mesh message${fresh === 1 ? '' : 's'} for ${agent}${before}`;
  });
  const more = agents.length > maxNamed ? ` and for ${agents.length - maxNamed} more agents` : '';
  return `git-mesh: ${parts.join('; ')}${more}. agent_inbox shows them.`;
}
