import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

// Loaded before a program (node --import): while the file SOAK_FULL_FILE exists, whatever takes room on a disk fails as
// on a full one. It stands in for a small disk of its own where none may be mounted.

const flag = process.env['SOAK_FULL_FILE'] ?? '';
const isThere = fs.existsSync.bind(fs);
type Method = (...args: unknown[]) => unknown;

function refuse(what: string): void {
  if (!isThere(flag)) return;
  throw Object.assign(new Error(`ENOSPC: no space left on device, ${what}`), {
    code: 'ENOSPC',
    errno: -28,
    syscall: what,
  });
}

/** Standard output and standard error are no files. */
const isStream = (target: unknown): boolean => typeof target === 'number' && target <= 2;

function guard(target: object, names: readonly string[], kind: 'sync' | 'async'): void {
  const methods = target as Record<string, Method | undefined>;
  for (const name of names) {
    const real = methods[name];
    if (real === undefined) throw new Error(`node:fs has no ${name} any more`);
    methods[name] =
      kind === 'sync'
        ? function (this: unknown, ...args) {
            if (!isStream(args[0])) refuse(name);
            return real.apply(this, args);
          }
        : async function (this: unknown, ...args) {
            refuse(name);
            return await real.apply(this, args);
          };
  }
}

guard(fs, ['writeSync', 'writevSync', 'writeFileSync', 'appendFileSync', 'mkdirSync', 'linkSync'], 'sync');
guard(fs.promises, ['writeFile', 'appendFile', 'mkdir', 'link'], 'async');
const probe = await fs.promises.open(process.execPath, 'r');
guard(Object.getPrototypeOf(probe) as object, ['write', 'writev', 'writeFile', 'appendFile'], 'async');
await probe.close();
syncBuiltinESMExports();
