import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Environment } from '../environment.js';

/**
 * The source of a module that, loaded before a program, makes every write of file contents fail with `code` once the
 * process has written `after` times to files (not to stdout or stderr). It stands in for a full disk or a disk that
 * was remounted read-only where a test may not mount one.
 */
const source = `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const code = process.env.FAULT_CODE;
let left = Number(process.env.FAULT_AFTER);
const fault = () => {
  if (left-- > 0) return;
  throw Object.assign(new Error(code + ': injected, write'), { code, errno: -28, syscall: 'write' });
};
const guard = (object, name, isFile = () => true) => {
  const real = object[name];
  if (typeof real !== 'function') return;
  object[name] = function (...args) {
    if (isFile(args[0])) fault();
    return real.apply(this, args);
  };
};
const later = (object, name) => {
  const real = object[name];
  if (typeof real !== 'function') return;
  object[name] = async function (...args) {
    fault();
    return real.apply(this, args);
  };
};
const isFile = (fd) => typeof fd !== 'number' || fd > 2;
for (const name of ['writeSync', 'writevSync', 'writeFileSync', 'appendFileSync']) guard(fs, name, isFile);
for (const name of ['writeFile', 'appendFile']) later(fs.promises, name);
const probe = await fs.promises.open(process.execPath, 'r');
for (const name of ['write', 'writev', 'writeFile', 'appendFile']) later(Object.getPrototypeOf(probe), name);
await probe.close();
for (const name of ['write', 'writeFile', 'appendFile']) {
  const real = fs[name];
  fs[name] = (...args) => {
    if (!isFile(args[0])) return real(...args);
    try { fault(); } catch (error) { queueMicrotask(() => args.at(-1)(error)); return; }
    return real(...args);
  };
}
syncBuiltinESMExports();
`;

/** Variables that make a command's writes to files fail with `code` after the first `after` ones. */
export function failingDisk(root: string, { code, after }: { code: 'ENOSPC' | 'EROFS'; after: number }): Environment {
  const module = join(root, 'failing-disk.mjs');
  writeFileSync(module, source);
  return { NODE_OPTIONS: `--import ${pathToFileURL(module).href}`, FAULT_CODE: code, FAULT_AFTER: String(after) };
}
