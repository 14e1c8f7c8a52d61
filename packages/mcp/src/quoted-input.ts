import { withoutInviteCodes } from '@git-mesh/core';
import { asciiJson } from './ascii-json.js';

/** What a client sent and an error quotes: its beginning, in which nothing acts, and no invitation that was put there. */
export function quotedInput(text: string, maxLength = 80): string {
  return asciiJson(withoutInviteCodes(text).slice(0, maxLength));
}
