import { rmSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { launcher } from '../environment.js';
import { soak } from './run.js';
import { faultKinds } from './schedule.js';
import { asList } from './summary.js';

const seed = 20_261_202;

test.skipIf(process.platform === 'win32')(
  `through kills, pauses, outages, refusals, a full disk and wrong clocks everything that was accepted arrives once (seed ${seed})`,
  async () => {
    const over = new AbortController();
    onTestFinished(() => {
      over.abort();
    });
    const { summary, findings, kept } = await soak({
      launcher,
      seed,
      machines: 2,
      seconds: 9,
      faults: faultKinds,
      pace: { serverMs: 200, commandMs: 1_500, faultMs: 600 },
      onProgress: () => undefined,
      signal: over.signal,
    });
    expect(findings, `${asList(findings)}${JSON.stringify(summary)}\nkept in ${kept ?? ''}`).toEqual([]);
    if (kept !== null) rmSync(kept, { recursive: true, force: true });
    // However slow the machine is that this runs on.
    expect(summary.accepted).toBeGreaterThan(0);
    expect(summary.delivered).toBeGreaterThan(0);
  },
  300_000,
);
