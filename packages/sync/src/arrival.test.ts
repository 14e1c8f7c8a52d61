import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@git-mesh/core';
import type { Journal, JournalView } from '@git-mesh/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { arrivalOf } from './arrival.js';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mesh-arrival-'));
  file = join(folder, 'journal.jsonl');
  writeFileSync(file, 'first\n');
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Milliseconds that a wait beyond number 1 takes, of a journal whose look is `view`. */
async function waited(
  view: () => Promise<Partial<JournalView>>,
  options: { timeoutMs?: number } = {},
): Promise<number> {
  const began = performance.now();
  // All that is asked of it.
  const journal = { file, view } as unknown as Journal;
  await arrivalOf({
    journal,
    beyond: 1,
    timeoutMs: options.timeoutMs ?? 5_000,
    closed: new AbortController().signal,
    logger: silentLogger,
  });
  return performance.now() - began;
}
const append = (): void => {
  appendFileSync(file, 'second\n');
};

test('what arrives just as the wait has looked ends it', async () => {
  const took = await waited(() => {
    append();
    return Promise.resolve({ highest: 1 });
  });
  expect(took).toBeLessThan(1_000);
});

test('what arrived before the wait began ends it at once', async () => {
  append();
  expect(await waited(() => Promise.resolve({ highest: 2 }))).toBeLessThan(1_000);
});

test('without an arrival it lasts its time', async () => {
  const took = await waited(() => Promise.resolve({ highest: 1 }), { timeoutMs: 100 });
  expect(took).toBeGreaterThanOrEqual(95);
});

test('a journal that cannot be read ends it with the reason', async () => {
  await expect(waited(() => Promise.reject(new Error('no disk')))).rejects.toThrow('no disk');
});
