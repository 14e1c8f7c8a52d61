import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import type { Store } from '../store/store.js';
import { live } from './live.js';
import { newStore, temporaryFolder } from './store-fixture.js';

type Folder = Awaited<ReturnType<typeof temporaryFolder>>;

/** A new store in a new folder for each test of the file, and their removal. */
export function storeForEach(): { folder: Folder; store: Store } {
  let made: { folder: Folder; store: Store } | null = null;
  const current = (): { folder: Folder; store: Store } => {
    if (made === null) throw new Error('the store of a test is there only while one runs');
    return made;
  };
  beforeEach(async () => {
    const folder = await temporaryFolder();
    made = { folder, store: await newStore(join(folder.path, 'store')) };
  });
  afterEach(async () => {
    const old = made;
    made = null;
    await old?.folder.remove();
  });
  return { folder: live(() => current().folder), store: live(() => current().store) };
}
