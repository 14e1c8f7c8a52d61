import { isAbsolute, relative, sep } from 'node:path';

/** Whether a path is a folder or lies in it. Both absolute, with every link followed. */
export function containsPath(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
