import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Serving } from './serve-stdio.js';
import type { HostProcess } from './stdio.js';

/** From the end's beginning to the end of the process, however slow the mesh is to close. */
const shutdownMs = 2000;
/** Of that, what calls under way get to finish: what they store is durable then, and a client that only closed its end still reads the answers. */
const lastCallsMs = 1000;

/** Ends the waits, lets calls finish and their answers go out, closes everything; the process is gone soon in any case. */
export async function endServing(
  serving: Serving,
  { host, flushed }: { host: HostProcess; flushed?: () => Promise<void> },
): Promise<void> {
  host.exitWithin(shutdownMs);
  // The end may be heard in the same turn as the last request, whose handling begins a few microtasks later.
  await nextTurn();
  await atMost(lastCallsMs, serving.endCalls());
  // The SDK writes an answer a few microtasks after it has the result.
  await nextTurn();
  await flushed?.();
  await serving.close();
}

async function atMost(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
