import type { ErrorResult } from '@git-mesh/core';
import type { Outcome } from './ledger.js';

/** How a call ended. */
export type Answer<T> =
  | { outcome: 'accepted'; value: T; endedAt: number }
  | { outcome: Exclude<Outcome, 'accepted'>; error: string | null; endedAt: number };

export const now = (): number => performance.now();

/**
 * An error that came back whole. It is held to its word: where it says that nothing was stored, nothing may be there.
 * One that no rule of the mesh gives is a fault of the product's, whatever came before.
 */
export function refused(error: ErrorResult['error'] | undefined, onBadAnswer: (text: string) => void): Answer<never> {
  const text = error === undefined ? 'an error without a structure' : `${error.name}: ${error.message}`;
  if (error === undefined || (error.code >= 500 && error.code !== 503)) onBadAnswer(text);
  const outcome = /nothing was (?:stored|sent)/i.test(text) ? 'denied' : 'unknown';
  return { outcome, error: text, endedAt: now() };
}
