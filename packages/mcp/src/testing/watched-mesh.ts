import type { Connection, MeshApi, OutlinedMessage } from '@git-mesh/core';
import { stubMesh, type StubMesh } from './stub-mesh.js';

export interface WatchedMesh {
  mesh: StubMesh;
  /** Something in the store changed. */
  change: () => void;
  /** How many listeners there are. */
  watching: () => number;
  inboxes: Map<string, readonly OutlinedMessage[]>;
}

/** A stub whose changes the test makes, and which gives each client a connection of its own, as a real one does. */
export function watchedMesh(answers: Partial<MeshApi> = {}): WatchedMesh {
  const listeners = new Set<() => void>();
  const inboxes: WatchedMesh['inboxes'] = new Map();
  const mesh: StubMesh = {
    ...stubMesh(answers),
    newConnection: (): Connection => ({ owner: null, agents: new Set() }),
    onChange: (listener) => {
      listeners.add(listener);
      return { ready: Promise.resolve(), close: () => listeners.delete(listener) };
    },
    inboxOutline: (agentId) => Promise.resolve(inboxes.get(agentId) ?? null),
  };
  return {
    mesh,
    inboxes,
    watching: () => listeners.size,
    change: () => {
      for (const listener of listeners) listener();
    },
  };
}
