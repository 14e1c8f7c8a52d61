import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Oid } from '../domain/ids.js';
import { loseObject } from '../testing/index.js';
import { meshForEach } from '../testing/mesh-for-each.js';
import { forkPoint } from './ancestry.js';

const { studio } = meshForEach('studio');

test('the fork of two histories is where both are here; at an edge of what is here they end, as git sees it', async () => {
  await studio.checkin('boss');
  await studio.api.send({ to: 'studio', msg_type: 'note' }, studio.call());
  const shallow = join(studio.store.dir, 'shallow');
  const [third, second, first] = (await studio.git('log', '--format=%H', studio.store.branch)).split('\n') as Oid[];
  if (third === undefined || second === undefined || first === undefined) throw new Error('there are three');
  const message = await studio.git('log', '-1', '--format=%B', second);
  const who = ['-c', 'user.name=studio', '-c', 'user.email=studio@mesh.invalid'];
  const beside = (await studio.git(...who, 'commit-tree', `${third}^{tree}`, '-p', first, '-m', message)) as Oid;
  const fork = async (): Promise<Oid | null> => forkPoint((await studio.reopened()).store.objects, third, beside);
  expect(await fork()).toBe(first);

  await writeFile(shallow, `${second}\n`);
  await expect(studio.git('merge-base', third, beside)).rejects.toThrow();
  expect(await fork()).toBeNull();
  loseObject(studio.store.dir, first);
  expect(await fork()).toBeNull();
  await rm(shallow);
  await expect(fork()).rejects.toMatchObject({ errorName: 'store_damaged' });
});
