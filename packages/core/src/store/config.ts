import { join } from 'node:path';
import { isHandle, isUlid } from '../domain/ids.js';
import { formatVersion } from '../domain/records.js';
import { parseRefPrefix } from '../domain/ref-names.js';
import { MeshError } from '../errors.js';
import { readIfThere, writeDurable } from './durable-fs.js';
import type { Fs } from './fs.js';
import type { StoreConfig } from './ports.js';
import type { Check, Shape } from './shape.js';
import {
  handle,
  isRecord,
  listOf,
  nullable,
  oneOf,
  parseJson,
  shaped,
  text,
  ulid,
  whole,
  wrongField,
} from './shape.js';

const refPrefix: Check<string> = (value): value is string => {
  if (typeof value !== 'string') return false;
  try {
    return parseRefPrefix(value) === value;
  } catch (error) {
    if (error instanceof MeshError) return false;
    throw error;
  }
};

const shape: Shape<StoreConfig> = {
  format: whole,
  mesh: shaped<StoreConfig['mesh']>({ id: ulid, name: text }),
  policy: oneOf<StoreConfig['policy']>('open', 'roster'),
  handle,
  label: nullable(text),
  store: ulid,
  ref_prefix: refPrefix,
  remotes: listOf(shaped<StoreConfig['remotes'][number]>({ name: text, url: text })),
};

export const configPath = (dir: string): string => join(dir, 'mesh', 'config.json');

/**
 * @throws MeshError `store_damaged` when it is missing or not as expected, `format_too_new` for a later format.
 */
export async function readConfig(fs: Fs, dir: string): Promise<StoreConfig> {
  const bytes = await readIfThere(fs, configPath(dir));
  if (bytes === null) throw damagedConfig('is missing');
  const value = parseJson(bytes);
  if (!isRecord(value)) throw damagedConfig('is no JSON object');
  const format = value['format'];
  if (typeof format === 'number' && format > formatVersion) {
    throw new MeshError(
      'format_too_new',
      `this store has format ${format}, this git-mesh knows up to ${formatVersion}: update git-mesh`,
      { data: { format, known: formatVersion } },
    );
  }
  const wrong = format === formatVersion ? wrongField(value, shape) : 'format';
  if (wrong !== null) throw damagedConfig(`has a wrong "${wrong}"`);
  // Every field was just checked.
  return value as unknown as StoreConfig;
}

/** Durable and atomic. */
export async function writeConfig(fs: Fs, dir: string, config: StoreConfig): Promise<void> {
  const wrong = wrongField(config, shape);
  if (wrong !== null || !isHandle(config.handle) || !isUlid(config.store)) {
    throw new Error(`a store's configuration with a wrong "${wrong ?? 'handle'}" was to be written`);
  }
  // URLs may hold credentials.
  await writeDurable(fs, configPath(dir), Buffer.from(`${JSON.stringify(config, null, 2)}\n`), { mode: 0o600 });
}

function damagedConfig(what: string): MeshError {
  return new MeshError(
    'store_damaged',
    `mesh/config.json of the store ${what}: put it back from a backup, or move the store away and join the mesh under a new handle`,
  );
}
