import { MeshError } from '@git-mesh/core';

/** A signal that fires after `ms` or with `outer`; `done` ends its timer. */
export function deadlineSignal(ms: number, outer?: AbortSignal): { signal: AbortSignal; done: () => void } {
  const controller = new AbortController();
  const abort = (): void => {
    controller.abort(new MeshError('deadline', `no answer within ${Math.ceil(ms / 1000)} s`));
  };
  const timer = setTimeout(abort, ms);
  timer.unref();
  if (outer?.aborted === true) abort();
  outer?.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    done: () => {
      clearTimeout(timer);
      outer?.removeEventListener('abort', abort);
    },
  };
}
