import { setTimeout as delay } from 'node:timers/promises';

/**
 * Asks until `condition` gives something that is not undefined, null or false, and returns that.
 * @throws Error naming `what` and the last answer when `within` (milliseconds) is over.
 */
export async function until<T>(
  condition: () => Promise<T> | T,
  { within = 15_000, every = 50, what }: { within?: number; every?: number; what: string },
): Promise<Exclude<T, undefined | null | false>> {
  const end = performance.now() + within;
  for (;;) {
    const answer = await condition();
    // The comparison proves what the type says; TypeScript does not narrow a bare T by it.
    if (answer !== undefined && answer !== null && answer !== false)
      return answer as Exclude<T, undefined | null | false>;
    if (performance.now() > end) throw new Error(`did not hold within ${within} ms: ${what}`);
    await delay(every);
  }
}
