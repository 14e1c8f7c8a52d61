import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Takes one object out of a repository, as a disk that fails does: all packs are unpacked for it. */
export function loseObject(gitdir: string, oid: string): void {
  const folder = join(gitdir, 'objects', 'pack');
  const packs = readdirSync(folder).filter((name) => name.endsWith('.pack'));
  const contents = packs.map((name) => readFileSync(join(folder, name)));
  // git unpacks nothing that it has already.
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  for (const input of contents) execFileSync('git', ['--git-dir', gitdir, 'unpack-objects', '-q'], { input });
  rmSync(join(gitdir, 'objects', oid.slice(0, 2), oid.slice(2)));
}
