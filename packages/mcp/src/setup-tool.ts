import type { Logger, MembershipResult } from '@git-mesh/core';
import type { MeshSetup } from './mesh-setup.js';

/** What agent_mesh_create and agent_mesh_join have in common. */

export type SetupResult = SetupPreview | ({ preview: false } & MembershipResult);

export interface SetupPreview {
  preview: true;
  /** Without credentials; null for a mesh of this machine alone. */
  remote: string | null;
  next: string;
}

/** @throws MeshError `mesh_exists` */
export async function setupPreview(
  { hasMesh }: MeshSetup,
  preview: Omit<SetupPreview, 'preview'>,
): Promise<SetupPreview> {
  const { MeshError } = await import('@git-mesh/core');
  if (hasMesh) throw new MeshError('mesh_exists', 'This machine is in a mesh already: see agent_mesh_status.');
  return { preview: true, ...preview };
}

interface SetupOptions {
  dir: string;
  env: MeshSetup['env'];
  logger: Logger;
  hostname: string;
  machine?: string;
  label?: string;
}

export function setupOptions(
  { dir, env, logger, hostname }: MeshSetup,
  { machine, label }: { machine: string | undefined; label: string | undefined },
): SetupOptions {
  return {
    ...{ dir, env, logger, hostname },
    ...(machine === undefined ? {} : { machine }),
    ...(label === undefined ? {} : { label }),
  };
}
