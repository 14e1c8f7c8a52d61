import { MeshError } from '@git-mesh/core';
import type { Exchange } from './port.js';

/**
 * Runs `work` on the exchange and ends the exchange afterwards, whatever happened; when `signal` fires it is ended at
 * once, which makes `work` fail.
 *
 * @throws MeshError `deadline` when the signal fired before `work` was done; else what `work` throws.
 */
export async function abortsExchange<T>(exchange: Exchange, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const onAbort = (): void => void exchange.close();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    if (signal.aborted) throw new MeshError('deadline', 'the time was over before the request was sent');
    return await work();
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new MeshError('deadline', 'the remote did not finish its answer in the time given to it', { cause: error });
  } finally {
    signal.removeEventListener('abort', onAbort);
    await exchange.close();
  }
}
