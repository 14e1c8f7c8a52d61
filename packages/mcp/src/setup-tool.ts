import type { Logger, MembershipResult } from '@git-mesh/core';
import type { MeshSetup } from './mesh-setup.js';

/** What agent_mesh_create and agent_mesh_join have in common. */

export type SetupResult = SetupPreview | ({ preview: false } & MembershipResult);

export interface SetupPreview {
  preview: true;
  /** Without credentials; null for a mesh of this machine alone. */
  remote: string | null;
  /** What this machine would be called; where that is taken and was not asked for, it gets a number. */
  machine: string;
  next: string;
}

/** `machine` and `label` as they were given. @throws MeshError `mesh_exists`, `invalid_argument`, `secret_found` */
export async function setupPreview(
  { hasMesh, hostname }: MeshSetup,
  { machine, label, remote, next }: Omit<SetupPreview, 'preview' | 'machine'> & Identity,
): Promise<SetupPreview> {
  const { MeshError, checkMachineTexts, handleFromHostname, parseHandle } = await import('@git-mesh/core');
  if (hasMesh) throw new MeshError('mesh_exists', 'This machine is in a mesh already: see agent_mesh_status.');
  checkMachineTexts({ machine, label });
  const handle = machine === undefined ? handleFromHostname(hostname) : parseHandle(machine, { argument: 'machine' });
  const asked = machine === undefined ? ` (${handle}-2 and so on where it is taken; give machine for another)` : '';
  const named = `It would be called ${handle}${asked}, for good: a handle is never changed nor used again.`;
  return { preview: true, remote, machine: handle, next: `${named} ${next}` };
}

interface Identity {
  machine: string | undefined;
  label: string | undefined;
}

interface SetupOptions {
  dir: string;
  env: MeshSetup['env'];
  logger: Logger;
  hostname: string;
  machine?: string;
  label?: string;
}

export function setupOptions({ dir, env, logger, hostname }: MeshSetup, { machine, label }: Identity): SetupOptions {
  return {
    ...{ dir, env, logger, hostname },
    ...(machine === undefined ? {} : { machine }),
    ...(label === undefined ? {} : { label }),
  };
}
