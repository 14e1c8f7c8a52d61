import { MeshError, type AgentsResult, type Logger } from '@git-mesh/core';
import type { OpenMesh } from '@git-mesh/sync';
import { ChangeLooks } from './change-looks.js';
import type { MeshUse } from './mesh-session.js';
import { parseResourceUri, type MeshResource } from './resource-uri.js';

/** Of one connection: each costs a look at every change. */
const maxSubscriptions = 100;
const gapMs = 50;

export interface SubscriptionsOptions {
  session: MeshUse;
  /** A resource's content is another now. */
  notify: (uri: string) => void;
  logger: Logger;
  now: () => number;
}

/** What a reader would notice of a resource, and when that may change without anything happening. */
interface Sight {
  facts: string;
  /** Milliseconds since 1970. */
  until: number | null;
}

/**
 * The resources that one client wants to hear of. Looks only when the store changed, or something in them ends; a look
 * is no activity of anybody: it renews no presence.
 */
export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  readonly #seen = new Map<string, { resource: MeshResource; facts: string }>();
  readonly #looks: ChangeLooks;
  #watch: ReturnType<OpenMesh['onChange']> | null = null;
  #closed = false;

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
    this.#looks = new ChangeLooks({
      look: () => this.#look(),
      gapMs,
      now: options.now,
      onError: (error) => {
        options.logger.debug(`a look for subscriptions failed: ${String(error)}`);
      },
    });
  }

  /** Twice the same is once. @throws MeshError as opening the mesh does; `conflict` beyond 100 of them. */
  async add(uri: string): Promise<void> {
    const resource = parseResourceUri(uri);
    if (resource === null) throw new MeshError('not_found', `there is no resource ${uri}`);
    if (!this.#seen.has(uri) && this.#seen.size >= maxSubscriptions) {
      throw new MeshError(
        'conflict',
        `there are ${maxSubscriptions} subscriptions already: unsubscribe from some first`,
      );
    }
    const { mesh } = await this.#options.session.use();
    if (this.#closed) throw new MeshError('cancelled', 'the connection is closing, nothing was subscribed');
    // Only now that it is watched: what changes between the look and then must not be missed.
    const watch = this.#watchChanges(mesh);
    await watch.ready;
    const { facts, until } = await sight(mesh, resource);
    if (!this.#seen.has(uri)) this.#seen.set(uri, { resource, facts });
    if (until !== null) this.#looks.ends(until);
    // The last of the others may have been taken back meanwhile, and the watch with it.
    if (this.#watch !== watch) {
      await this.#watchChanges(mesh).ready;
      this.#looks.changed();
    }
    if (this.#hasClosed()) await this.close();
  }

  #watchChanges(mesh: OpenMesh): ReturnType<OpenMesh['onChange']> {
    this.#watch ??= mesh.onChange(() => {
      this.#looks.changed();
    });
    return this.#watch;
  }

  /** A method, since it may change during any await, which the compiler would not believe of a field. */
  #hasClosed(): boolean {
    return this.#closed;
  }

  remove(uri: string): void {
    this.#seen.delete(uri);
    if (this.#seen.size === 0) this.#rest();
  }

  /** Nothing is watched and nothing told after it. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#seen.clear();
    this.#rest();
    await this.#looks.close();
  }

  #rest(): void {
    this.#watch?.close();
    this.#watch = null;
  }

  async #look(): Promise<number | null> {
    if (this.#seen.size === 0) return null;
    const { mesh } = await this.#options.session.use();
    let next: number | null = null;
    for (const [uri, known] of [...this.#seen]) {
      const { facts, until } = await sight(mesh, known.resource);
      if (until !== null && (next === null || until < next)) next = until;
      // It may have been unsubscribed from meanwhile.
      if (this.#seen.get(uri) !== known || facts === known.facts) continue;
      known.facts = facts;
      this.#options.notify(uri);
    }
    return next;
  }
}

async function sight(mesh: OpenMesh, resource: MeshResource): Promise<Sight> {
  if (resource.kind === 'inbox') {
    const messages = await mesh.inboxOutline(resource.agentId);
    const ends = (messages ?? []).map(({ expiresAt }) => expiresAt);
    return { facts: JSON.stringify(messages?.map(({ n }) => n) ?? null), until: soonest(ends) };
  }
  // A connection of nobody's: one that an agent checked in over would be renewed by asking.
  const result = await mesh.api.agents({}, { connection: mesh.newConnection({ resident: false }) });
  const freezeEnds = result.freezes.map(({ expires_at: at }) => Date.parse(at));
  if (resource.kind === 'freezes') {
    return { facts: JSON.stringify([result.freezes, syncFacts(result)]), until: soonest(freezeEnds) };
  }
  const ends = result.agents.map(({ expires_at: at }) => Date.parse(at));
  return { facts: agentFacts(result), until: soonest([...freezeEnds, ...ends]) };
}

const soonest = (times: number[]): number | null => (times.length === 0 ? null : Math.min(...times));

/** Times that pass or are put off by themselves are no news. */
const syncFacts = ({ sync }: AgentsResult): unknown => [sync.state, sync.error?.name ?? null];

function agentFacts(result: AgentsResult): string {
  const agents = result.agents.map((agent) => ({
    ...agent,
    status_age_s: null,
    last_activity_at: null,
    expires_at: null,
  }));
  const machines = result.machines.map((machine) => ({ ...machine, last_seen_at: null }));
  return JSON.stringify([agents, machines, result.freezes, syncFacts(result), result.problems ?? []]);
}
