/**
 * Resolves with `work`, or without waiting for it any longer after `ms` or when a signal fires; `work` goes on. A
 * failure that comes in time is passed on.
 */
export function within(work: Promise<void>, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
    if (signal?.aborted === true) done();
    work.then(done, (error: unknown) => {
      reject(error instanceof Error ? error : new Error(String(error)));
      done();
    });
    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      // Does nothing where it has failed already: a promise settles once.
      resolve();
    }
  });
}
