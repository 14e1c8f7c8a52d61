import { isAbsolute, join } from 'node:path';

export interface UserPlaces {
  platform: string;
  env: Readonly<Record<string, string | undefined>>;
  /** @throws where this user has none. */
  homedir: () => string;
}

/**
 * Where programs of this user keep what they can make anew.
 * @returns null where the system names no such folder.
 */
export function cacheFolder({ platform, env, homedir }: UserPlaces): string | null {
  if (platform === 'win32') return absolute(env['LOCALAPPDATA']);
  const named = platform === 'darwin' ? null : absolute(env['XDG_CACHE_HOME']);
  if (named !== null) return named;
  const home = absolute(homedir());
  return home === null ? null : platform === 'darwin' ? join(home, 'Library', 'Caches') : join(home, '.cache');
}

function absolute(path: string | undefined): string | null {
  return path !== undefined && isAbsolute(path) ? path : null;
}
