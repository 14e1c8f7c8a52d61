import { MeshError, type MeshApi } from '@git-mesh/core';
import { nastyLine, nastyText, textFault, withNastyText } from '@git-mesh/core/testing';
import { describe, expect, it } from 'vitest';
import * as samples from './testing/samples.js';
import { stubSetup } from './testing/stub-setup.js';
import { stubMesh } from './testing/stub-mesh.js';
import type { ToolResult } from './tool-error.js';
import { ToolCalls } from './tool-calls.js';
import { meshTools } from './tools.js';

/** What a tool chooses its words by. */
const keep = new Set(['state', 'herdr_wake', 'policy', 'verified']);
/** Parsed before they come here, so that no line break is in them: handles, agents' names, ULIDs, times. */
const ids = new Set(['agent_id', 'machine', 'handle', 'id', 'agent', 'to', 'to_agent', 'from_agent', 'msg_type', 'in_reply_to', 'kind', 'since', 'expires_at', 'at', 'url', 'store', 'recipients', 'ids']); // prettier-ignore

async function called(name: string, answers: Partial<MeshApi>, args: unknown = {}): Promise<ToolResult> {
  const mesh = stubMesh(answers);
  const calls = new ToolCalls({
    // All that a call asks of a session.
    session: {
      use: () => Promise.resolve({ mesh, connection: mesh.newConnection({ resident: true }) }),
    },
    store: nastyLine,
    env: {},
    hostname: 'here',
    setup: stubSetup(),
    logger: { debug: () => undefined, info: () => undefined, warn: () => undefined },
    now: () => samples.nowMs,
  });
  const tool = meshTools('linux').find((each) => each.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return calls.run(tool, { args, signal: new AbortController().signal });
}

const preview = { preview: true as const, record: samples.record, next: 'n' };
const unheard = { ...samples.statusResult, history: { older_commits: 3, machines: [samples.studio] } };
const ackPreview = { preview: true as const, would_ack: [1], already_acked: [2], unknown: [3], next: 'n' };
const results: readonly (readonly [tool: string, useCase: keyof MeshApi, result: object])[] = [
  ['agent_checkin', 'checkin', samples.checkinDone],
  ['agent_checkin', 'checkin', { ...samples.checkinBare, sync: samples.syncOffline }],
  ['agent_checkin', 'checkin', preview],
  ['agents_list', 'agents', { ...samples.agentsResult, sync: samples.syncOffline }],
  ['agent_send', 'send', { ...samples.sendResult, warning: 'w' }],
  ['agent_send', 'send', { ...samples.sendResult, duplicate: true }],
  ['agent_inbox', 'inbox', { ...samples.inboxResult, sync: samples.syncOffline }],
  ['agent_ack', 'ack', ackPreview],
  ['agent_sent', 'sent', samples.sentResult],
  ['agent_checkout', 'checkout', { preview: true, agent_id: samples.qa, machine: samples.laptop, next: 'n' }],
  ['agent_mesh_status', 'status', unheard],
];

const textOf = ({ content }: ToolResult): string => content.map(({ text }) => text).join('\n');

describe('nasty text', () => {
  it.each(results)('acts, hides and forges in nothing that %s says (%s)', async (tool, useCase, sample) => {
    // Texts for texts: the shape is the sample's.
    const result = withNastyText(sample, keep, ids) as never;
    const { structuredContent, ...answer } = await called(tool, { [useCase]: () => Promise.resolve(result) });
    expect(answer.isError).toBeUndefined();
    expect(textFault(textOf({ ...answer, structuredContent }))).toBeNull();
    // A program gets what was written, to the letter.
    expect(structuredContent).toEqual(result);
  });

  it.each(['agent_inbox', 'agents_list', 'agent_mesh_status'])('nor in an error of %s', async (tool) => {
    const failing = (): Promise<never> =>
      Promise.reject(new MeshError('unreachable', `It failed: ${nastyText}`, { data: { known: [nastyText] } }));
    const answer = await called(tool, { inbox: failing, agents: failing, status: failing });
    expect(answer.isError).toBe(true);
    expect(textFault(textOf(answer))).toBeNull();
    expect(textOf(answer).split('\n')).toHaveLength(2);
  });

  it('nor in the complaint about an argument', async () => {
    const answer = await called('agent_mesh_status', {}, { [nastyText]: 1 });
    expect(answer.isError).toBe(true);
    expect(textFault(textOf(answer))).toBeNull();
  });
});
