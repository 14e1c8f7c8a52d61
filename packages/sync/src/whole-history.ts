import { MeshError, partialHistory } from '@git-mesh/core';
import type { HistoryResult, MeshContext, Problem } from '@git-mesh/core';
import { fetchHistory, settleHistory } from './history.js';
import { plainMessage } from './redact.js';
import type { Remote } from './remote-context.js';
import { idleMs, watchedTransport, withHeartbeat } from './watched-transport.js';

export interface WholeHistoryOptions {
  onProgress?: (line: string) => void;
  signal?: AbortSignal;
}

/** So much of a long history is kept whatever becomes of the rest. */
const commitsAtOnce = 10_000;

/**
 * Gets what this store lacks of the mesh's history from the remotes, one after the other until nothing is missing. A
 * remote that fails is among the problems; what came before stays.
 */
export async function wholeHistory(
  mesh: MeshContext,
  remotes: readonly Remote[],
  { onProgress, signal = new AbortController().signal }: WholeHistoryOptions,
): Promise<HistoryResult> {
  const settled = await settleHistory(mesh);
  let { fetched } = settled;
  const problems: Problem[] = [...settled.problems];
  for (const remote of remotes) {
    if ((await mesh.branches.edges()).length === 0) break;
    const transport = watchedTransport(remote.transport, { idleMs, onProgress });
    const ctx = { mesh, remote: { ...remote, transport }, signal, logger: mesh.logger };
    try {
      const step = await withHeartbeat(onProgress, 'fetching older history', () =>
        fetchHistory(ctx, { commitsAtOnce, onProgress }),
      );
      fetched += step.fetched;
      problems.push(...step.problems.filter((one) => !problems.some(({ message }) => message === one.message)));
    } catch (error) {
      if (!(error instanceof MeshError)) throw error;
      problems.push({ kind: error.errorName, message: `remote ${remote.name}: ${plainMessage(error)}` });
      // Its steps before the failure counted for something.
      fetched += (await settleHistory(mesh)).fetched;
    }
  }
  const left = await partialHistory(mesh);
  // What one remote did not have, another may have had.
  return {
    complete: left.history === undefined,
    fetched,
    ...left,
    problems: left.history === undefined ? [] : problems,
  };
}
