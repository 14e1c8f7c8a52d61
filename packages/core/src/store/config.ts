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
const copyPath = (dir: string): string => join(dir, 'mesh', 'config.copy.json');

/**
 * @throws MeshError `store_damaged` when it is missing or not as expected, `format_too_new` for a later format.
 */
export async function readConfig(fs: Fs, dir: string): Promise<StoreConfig> {
  const bytes = await readIfThere(fs, configPath(dir));
  if (bytes === null) throw damagedConfig('is missing');
  return parseConfig(bytes);
}

function parseConfig(bytes: Uint8Array): StoreConfig {
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

/**
 * {@link readConfig}, but from the copy where the file itself is damaged or gone, which is then written anew where the
 * disk takes it.
 */
export async function readConfigOrCopy(fs: Fs, dir: string): Promise<StoreConfig> {
  try {
    return await readConfig(fs, dir);
  } catch (error) {
    if (!(error instanceof MeshError) || error.errorName !== 'store_damaged') throw error;
    const bytes = await readIfThere(fs, copyPath(dir));
    const config = bytes === null ? null : configOrNull(bytes);
    // The file itself is what a person has to put back.
    if (bytes === null || config === null) throw error;
    await writeAgain(fs, configPath(dir), bytes);
    return config;
  }
}

function configOrNull(bytes: Uint8Array): StoreConfig | null {
  try {
    return parseConfig(bytes);
  } catch (error) {
    if (error instanceof MeshError) return null;
    throw error;
  }
}

async function writeAgain(fs: Fs, path: string, bytes: Uint8Array): Promise<void> {
  try {
    await writeDurable(fs, path, bytes, { mode: 0o600 });
  } catch (error) {
    // What is known is enough to work with.
    if (!(error instanceof MeshError)) throw error;
  }
}

/** Durable and atomic. A copy goes first: of the two, a disk that fails in the middle damages one. */
export async function writeConfig(fs: Fs, dir: string, config: StoreConfig): Promise<void> {
  const wrong = wrongField(config, shape);
  if (wrong !== null || !isHandle(config.handle) || !isUlid(config.store)) {
    throw new Error(`a store's configuration with a wrong "${wrong ?? 'handle'}" was to be written`);
  }
  // URLs may hold credentials.
  const bytes = Buffer.from(`${JSON.stringify(config, null, 2)}\n`);
  await writeDurable(fs, copyPath(dir), bytes, { mode: 0o600 });
  await writeDurable(fs, configPath(dir), bytes, { mode: 0o600 });
}

function damagedConfig(what: string): MeshError {
  return new MeshError(
    'store_damaged',
    `mesh/config.json of the store ${what}: put it back from a backup, or move the store away and join the mesh under a new handle`,
  );
}
