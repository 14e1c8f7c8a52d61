import { startService } from './service-process.js';
import type { ServiceProcess } from './service-process.js';

/** Starts git; as {@link startService}. */
export function startGit(args: readonly string[], env: Readonly<Record<string, string>>): ServiceProcess {
  return startService({ program: 'git', args, env });
}
