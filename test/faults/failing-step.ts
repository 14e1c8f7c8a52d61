import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Environment } from '../environment.js';

/**
 * The source of a module that counts a program's steps on the disk (a write, a new name, a new folder) and, when it comes
 * to step STEP_AT, kills the process or has that step and all later ones fail as on a full disk.
 */
const source = `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
let left = Number(process.env.STEP_AT);
const step = (name, target) => {
  if (typeof target === 'number' && target <= 2) return;
  if (left-- > 0) return;
  if (process.env.STEP_HOW === 'kill') process.kill(process.pid, 'SIGKILL');
  throw Object.assign(new Error('ENOSPC: injected, ' + name), { code: 'ENOSPC', errno: -28, syscall: name });
};
const taking = (name) => !name.startsWith('rename');
for (const name of ['writeSync', 'writevSync', 'writeFileSync', 'linkSync', 'mkdirSync', 'renameSync']) {
  if (process.env.STEP_HOW !== 'kill' && !taking(name)) continue;
  const real = fs[name];
  fs[name] = function (...args) { step(name, args[0]); return real.apply(this, args); };
}
for (const name of ['writeFile', 'mkdir', 'mkdtemp', 'rename']) {
  if (process.env.STEP_HOW !== 'kill' && !taking(name)) continue;
  const real = fs.promises[name];
  fs.promises[name] = async function (...args) { step(name, args[0]); return real.apply(this, args); };
}
syncBuiltinESMExports();
`;

/** Variables that end a command at its step number `at` on the disk, counted from 0. */
export function failingStep(root: string, { how, at }: { how: 'kill' | 'full'; at: number }): Environment {
  const module = join(root, 'failing-step.mjs');
  writeFileSync(module, source);
  return { NODE_OPTIONS: `--import ${pathToFileURL(module).href}`, STEP_HOW: how, STEP_AT: String(at) };
}
