import type {
  AddRemoteFunction,
  InitMeshFunction,
  JoinMeshFunction,
  OpenMeshFunction,
  ReclaimFunction,
  RemoveRemoteFunction,
} from '@git-mesh/sync';

/** The use cases that a command starts from. */
export interface MeshAccess {
  openMesh: OpenMeshFunction;
  initMesh: InitMeshFunction;
  joinMesh: JoinMeshFunction;
  addRemote: AddRemoteFunction;
  removeRemote: RemoveRemoteFunction;
  reclaimBranch: ReclaimFunction;
  /** A remote as it may be shown: without credentials. */
  redactUrl: (url: string) => string;
}

/** Loads the store's and the transports' code, which `--version` and `--help` must not pay for. */
export async function loadMeshAccess(): Promise<MeshAccess> {
  return import('@git-mesh/sync');
}
