import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';

const temporary = /^tmp_mesh_|\.tmp-[0-9a-f]{12}$|\.tmp$|^takeover\.|\.lock$|^lock$|^maker\.json$/;

/** What a process that was killed may leave in a folder, by name. */
export function leftovers(folder: string): string[] {
  const found: string[] = [];
  const names = readdirSync(folder, { withFileTypes: true });
  const packs = new Set(names.map(({ name }) => name));
  for (const entry of names) {
    const path = join(folder, entry.name);
    const isLonelyPack = entry.name.endsWith('.pack') && !packs.has(entry.name.replace(/pack$/, 'idx'));
    if (temporary.test(entry.name) || isLonelyPack) found.push(path);
    else if (entry.isDirectory()) found.push(...leftovers(path));
  }
  return found;
}

/** Makes them look an hour old, so that they need not be waited for. */
export function age(paths: readonly string[]): void {
  const then = new Date(Date.now() - 3_600_000);
  for (const path of paths) utimesSync(path, then, then);
}
