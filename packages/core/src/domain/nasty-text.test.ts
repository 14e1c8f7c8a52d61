import { describe, expect, it } from 'vitest';
import { MeshError } from '../errors.js';
import { nastyLine, nastyText, textFault } from '../testing/nasty-text.js';
import { decodeYaml } from './codec.js';
import { formatCommitMessage } from './commit-message.js';
import { presenceSummary, sendSummary } from './commit-summary.js';
import type { AgentId, Handle } from './ids.js';
import { parseAgentId, parseHandle } from './ids.js';
import { parseCheckinInput, parseInboxInput, parseLogInput, parseSendInput } from './inputs.js';
import { parseRefPrefix } from './ref-names.js';

const events = { agent: null, messages: [], seq: 1, journal: 0, read: [] };
const subjects: readonly (readonly [string, string])[] = [
  // Names are parsed before they come here; a summary is cleaned all the same.
  ['presence', presenceSummary({ agent: nastyText as AgentId, role: nastyText, repo: nastyText, status: nastyText })],
  ...['reason', 'message', 'title', 'summary', 'repo'].map((key) => {
    const from = { agent: null, machine: 'studio' as Handle };
    const to = { agent: null, machine: '*' as const };
    return [`a payload’s ${key}`, sendSummary({ type: 'note', from, to, payload: { [key]: nastyText } })] as const;
  }),
];

const sent = (input: object): unknown => parseSendInput({ to: 'laptop', msg_type: 'note', ...input });
const refusals: readonly (readonly [string, () => unknown])[] = [
  ['a handle', () => parseHandle(nastyText)],
  ['an agent', () => parseAgentId(nastyText)],
  ['a prefix', () => parseRefPrefix(nastyText)],
  ['a type', () => sent({ msg_type: nastyText })],
  ['a key', () => sent({ key: nastyText })],
  ['a name', () => sent({ [nastyText]: 1 })],
  ['a payload', () => sent({ payload: nastyText })],
  ['a place in a payload', () => sent({ payload: { [nastyLine.replace('\ud800', '')]: '\ud800' } })],
  ['a place of a secret', () => sent({ payload: { [nastyText.replace('\ud800', '')]: `ghp_${'aB3dE5gH7jK9'.repeat(3)}` } })], // prettier-ignore
  ['a reply', () => sent({ in_reply_to: nastyText })],
  ['a lifetime', () => sent({ ttl_seconds: nastyText })],
  ['a status', () => parseCheckinInput({ agent_id: 'qa', status: nastyText })],
  ['a cap', () => parseCheckinInput({ agent_id: 'qa', caps: [nastyText] })],
  ['a limit', () => parseInboxInput({ agent_id: 'qa', limit: nastyText })],
  ['a time', () => parseLogInput({ since: nastyText }, { now: 0 })],
  ['a document', () => decodeYaml(new TextEncoder().encode(`a: *${nastyText}\n`))],
];

describe('nasty text', () => {
  it.each(subjects)('leaves one harmless line of %s for a commit’s subject', (_name, summary) => {
    const [subject = '', ...rest] = formatCommitMessage({ ...events, event: 'send', summary })
      .trimEnd()
      .split('\n');
    expect(textFault(subject)).toBeNull();
    expect(Array.from(subject).length).toBeLessThanOrEqual(120);
    expect(rest).toEqual(['', 'Mesh-Event: send', 'Mesh-Seq: 1', 'Mesh-Journal: 0']);
  });

  it.each(refusals)('is shown harmlessly where %s is refused', (_name, act) => {
    let refused: unknown = null;
    try {
      act();
    } catch (error) {
      refused = error;
    }
    if (!(refused instanceof MeshError)) throw new Error('nothing was refused');
    expect(textFault(refused.message)).toBeNull();
    expect(refused.message).not.toContain('\n');
  });
});
