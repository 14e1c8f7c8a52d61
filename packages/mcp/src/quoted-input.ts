// Not all of core: a server that is only looked at loads none of it.
import { withoutInviteCodes } from '@git-mesh/core/invite-mask';
import { asciiJson } from './ascii-json.js';

/** What a client sent and an error quotes: its beginning, in which nothing acts, and no invitation that was put there. */
export function quotedInput(text: string, maxLength = 80): string {
  return asciiJson(withoutInviteCodes(text).slice(0, maxLength));
}
