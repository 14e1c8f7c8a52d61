import type { AgentsResult, Connection, SentMessage } from '@git-mesh/core';
import type { OpenMesh } from '@git-mesh/sync';
import { auditData } from '../audit-page/audit-data.js';
import type { AuditData } from '../audit-page/audit-data.js';
import { plainLine, plainResult } from '../plain-text.js';

/** What a page is sent at once, whatever the mesh holds. */
const maxEvents = 500;
const maxAgents = 200;
const maxSent = 50;
const maxPayload = 300;

/** A message of this machine with how far it came; `text` is its payload, shortened. */
export interface LiveMessage extends Pick<
  SentMessage,
  'message_id' | 'id' | 'to' | 'to_agent' | 'msg_type' | 'from_agent' | 'sent_at' | 'state' | 'acks' | 'delivered_to'
> {
  text: string;
}

/** What is now, but for what ends by the clock alone: the page looks at the times itself. */
export interface LiveState extends Omit<AgentsResult, 'problems'> {
  /** Agents beyond those told. */
  more_agents: number;
  problems: string[];
  sent: LiveMessage[];
}

/** One look at the mesh: nothing is written by it, and nobody's presence is renewed. */
export interface LiveView {
  state: LiveState;
  audit: AuditData;
}

export async function liveView(mesh: OpenMesh, connection: Connection, nowMs: number): Promise<LiveView> {
  const { agents, problems = [], ...rest } = await mesh.api.agents({ include_stale: true }, { connection });
  const { messages } = await mesh.api.sent({ limit: maxSent }, { connection });
  const events = [];
  for await (const event of mesh.api.audit({ limit: maxEvents })) events.push(event);
  const state: LiveState = {
    ...rest,
    // Who is here comes first: those that are left out ended longest ago.
    agents: [...agents].sort((a, b) => b.expires_at.localeCompare(a.expires_at)).slice(0, maxAgents),
    more_agents: Math.max(0, agents.length - maxAgents),
    problems: problems.map(({ message }) => message),
    sent: messages.map(liveMessage),
  };
  return plainResult({ state, audit: auditData(events, nowMs) });
}

function liveMessage(message: SentMessage): LiveMessage {
  const { message_id, id, to, to_agent, msg_type, from_agent, sent_at, state, acks, delivered_to } = message;
  const said = message.payload['message'] ?? message.payload;
  const text = plainLine(typeof said === 'string' ? said : JSON.stringify(said));
  return {
    ...{ message_id, id, to, to_agent, msg_type, from_agent, sent_at, state, acks, delivered_to },
    text: text.length > maxPayload ? `${text.slice(0, maxPayload)}…` : text,
  };
}
