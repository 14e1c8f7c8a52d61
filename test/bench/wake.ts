import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { median, quantile } from './measure.js';
import { WakeMesh } from './wake-mesh.js';
import { type WakeRemotes, wakeRemotes } from './wake-remote.js';
import { WakeRival } from './wake-rival.js';

const warmUps = 2;
const anyTime = (): Promise<void> => sleep(Math.random() * 1_000);

export interface WakeFigures {
  transport: string;
  /** Milliseconds from a message's acceptance on one machine until whoever waits on the other has it. */
  ours: number[];
  /** The same of a commit that is pushed and a loop of `git fetch`. */
  fetching: number[];
}

/** How soon a waiting agent hears of a message, for each transport, beside a loop of `git fetch` every second. */
export async function measureWake(
  dir: string,
  runs: number,
  onProgress: (line: string) => void,
): Promise<WakeFigures[]> {
  const figures: WakeFigures[] = [];
  for (const [transport, start] of Object.entries(wakeRemotes)) {
    onProgress(`measuring how soon a waiting agent is woken over ${transport}`);
    const root = mkdtempSync(join(dir, 'wake-'));
    try {
      const remotes = await start(root);
      try {
        figures.push({ transport, ...(await wakes(root, remotes, runs)) });
      } finally {
        await remotes.close();
      }
    } finally {
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    }
  }
  return figures;
}

async function wakes(root: string, remotes: WakeRemotes, runs: number): Promise<Omit<WakeFigures, 'transport'>> {
  const mesh = await WakeMesh.start(root, remotes);
  const rival = await WakeRival.start(join(root, 'rival'), remotes);
  const [ours, fetching]: [number[], number[]] = [[], []];
  try {
    for (let n = -warmUps; n < runs; n++) {
      // Both poll once a second, and a message comes at any time of it. Side by side, or fifty would take too long; each
      // has a processor.
      const [own, other] = await Promise.all([mesh.wake(anyTime), anyTime().then(() => rival.wake())]);
      if (n < 0) continue;
      ours.push(own);
      fetching.push(other);
    }
  } finally {
    await rival.close();
    await mesh.close();
  }
  return { ours, fetching };
}

/** The figures as a Markdown table. */
export function wakeTable(figures: readonly WakeFigures[]): string {
  const ms = (value: number): string => `${Math.round(value)} ms`;
  const of = (values: readonly number[]): string[] => [
    ms(median(values)),
    ms(quantile(values, 0.9)),
    ms(Math.max(...values)),
  ];
  const rows = figures.flatMap(({ transport, ours, fetching }) => [
    [transport, 'agent_inbox that waits', String(ours.length), ...of(ours)],
    [transport, '`git fetch` every second', String(fetching.length), ...of(fetching)],
  ]);
  const head = ['transport', 'who waits', 'messages', 'median', 'p90', 'worst'];
  return [head, head.map((_, at) => (at < 2 ? '---' : '---:')), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}
