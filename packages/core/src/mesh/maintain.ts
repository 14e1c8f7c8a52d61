import type { MaintainResult } from '../domain/results.js';
import { footprint } from '../store/footprint.js';
import { MaintainRun } from '../store/maintain-run.js';
import type { MeshContext } from './context.js';

/**
 * Puts the store's objects into few packs, at once, in steps that each take the store lock for a moment, so that
 * whoever sends meanwhile gets a turn.
 * @throws MeshError `locked`, `disk_full`, `read_only`: what was done until then stays done, and no object is lost.
 */
export async function maintain({ store }: MeshContext): Promise<MaintainResult> {
  const before = await footprint(store);
  // The end of it is sure: each step leaves fewer of the packs and loose objects that it began with.
  const run = new MaintainRun();
  while (await store.maintain({ whole: true, run }));
  const after = await footprint(store);
  await store.objects.forget();
  let objects = 0;
  for await (const _ of store.objects.ids()) objects += 1;
  return {
    objects,
    packs_before: before.packs,
    packs_after: after.packs,
    loose_before: before.loose,
    loose_after: after.loose,
    bytes_before: before.bytes,
    bytes_after: after.bytes,
  };
}
