import { join } from 'node:path';
import { isOid } from '../domain/ids.js';
import { branchRef } from '../domain/ref-names.js';
import { readIfThere, writeDurable } from './durable-fs.js';
import type { Fs } from './fs.js';
import { bareConfig } from './git-config.js';
import type { StoreConfig } from './ports.js';

/** HEAD names a branch in refs/heads, or git takes the folder for no repository. */
export async function writeHead(
  fs: Fs,
  dir: string,
  config: Pick<StoreConfig, 'ref_prefix' | 'handle'>,
): Promise<void> {
  const own = branchRef(config.ref_prefix, config.handle);
  const head = own.startsWith('refs/heads/') ? own : 'refs/heads/main';
  await writeDurable(fs, join(dir, 'HEAD'), Buffer.from(`ref: ${head}\n`));
}

/**
 * Writes anew what makes a folder a repository and holds nothing of its own, where a power cut emptied it or it went
 * away: HEAD, `config`, the folder of the refs. Whatever can be read is left alone. Gives what was written.
 */
export async function mendRepository(fs: Fs, dir: string, config: StoreConfig): Promise<string[]> {
  const mended: string[] = [];
  if (!isHead(await textOf(fs, join(dir, 'HEAD')))) {
    await writeHead(fs, dir, config);
    mended.push('HEAD');
  }
  if (isTorn(await textOf(fs, join(dir, 'config')))) {
    await writeDurable(fs, join(dir, 'config'), Buffer.from(bareConfig));
    mended.push('config');
  }
  // A backup may leave out folders with nothing in them.
  if ((await fs.stat(join(dir, 'refs'))) === null) {
    await fs.makeFolder(join(dir, 'refs', 'heads'));
    mended.push('refs');
  }
  return mended;
}

async function textOf(fs: Fs, path: string): Promise<string | null> {
  const bytes = await readIfThere(fs, path);
  return bytes === null ? null : Buffer.from(bytes).toString('latin1');
}

const isHead = (text: string | null): boolean =>
  text !== null && (/^ref:\s*refs\/heads\/[^\s\0]+\s*$/.test(text) || isOid(text.trimEnd()));

/** Missing, or what is left of ours: its beginning, or a hole of zeros. */
const isTorn = (text: string | null): boolean =>
  text === null || text.includes('\0') || (text !== bareConfig && bareConfig.startsWith(text));
