import { hasUnseen, type AgentsResult } from '@git-mesh/core';
import type { MeshUse } from './mesh-session.js';

/** As the protocol bounds it. */
const maxValues = 100;
/** Longer ones are no help to type. */
const maxLength = 200;

export interface Completion {
  [key: string]: unknown;
  values: string[];
  total: number;
  hasMore: boolean;
}

export const noCompletion: Completion = { values: [], total: 0, hasMore: false };

/**
 * What an argument may be: agents of this machine, roles and repos that were seen. A value with a character that acts or
 * hides is left out, for it would be taken as it stands. Renews nobody.
 *
 * @throws MeshError as opening the mesh does.
 */
export async function complete(session: MeshUse, argument: { name: string; value: string }): Promise<Completion> {
  const pick = sources[argument.name];
  if (pick === undefined) return noCompletion;
  const { mesh } = await session.use();
  const call = { connection: mesh.newConnection({ resident: false }) };
  const found = pick(await mesh.api.agents({ include_stale: true }, call));
  const prefix = argument.value.toLowerCase();
  const fitting = [...new Set(found)].filter(
    (text) => text !== '' && text.length <= maxLength && !hasUnseen(text) && text.toLowerCase().startsWith(prefix),
  );
  const values = fitting.sort().slice(0, maxValues);
  return { values, total: fitting.length, hasMore: fitting.length > values.length };
}

type Source = (result: AgentsResult) => string[];

const sources: Readonly<Partial<Record<string, Source>>> = Object.assign(Object.create(null) as object, {
  agent_id: ({ machine, agents }: AgentsResult) =>
    agents.filter((agent) => agent.machine === machine).map((agent) => agent.agent_id),
  role: ({ agents }: AgentsResult) => agents.map(({ role }) => role ?? ''),
  repo: ({ agents }: AgentsResult) => agents.map(({ repo }) => repo ?? ''),
});
