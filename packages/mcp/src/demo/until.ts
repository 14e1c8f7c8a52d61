import { setTimeout as delay } from 'node:timers/promises';
import { DemoFailure, shown } from './demo-failure.js';

const pollEveryMs = 100;
const deadlineMs = 10_000;

/**
 * Asks again and again until `holds` is true of the answer, and gives that answer.
 * @throws DemoFailure naming `what` when it does not come to hold within 10 s; whatever `ask` throws, at once.
 */
export async function until<Answer>(
  what: string,
  ask: () => Promise<Answer>,
  holds: (answer: Answer) => boolean,
  signal: AbortSignal,
): Promise<Answer> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    const answer = await ask();
    if (holds(answer)) return answer;
    if (performance.now() > end) {
      throw new DemoFailure(`expected within ${deadlineMs / 1000} s: ${what}; last seen: ${shown(answer)}`);
    }
    await delay(pollEveryMs, undefined, { signal });
  }
}
