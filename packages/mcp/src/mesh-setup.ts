import type { Logger } from '@git-mesh/core';
import type { InitMeshFunction, JoinMeshFunction } from '@git-mesh/sync';

/** What makes a mesh or joins one; loaded by the first call that needs it. */
export interface SetupFunctions {
  initMesh: InitMeshFunction;
  joinMesh: JoinMeshFunction;
  /** A remote as it may be shown. */
  redactUrl: (url: string) => string;
}

/** What a tool that makes or joins a mesh works with, before there is one. */
export interface MeshSetup extends SetupFunctions {
  /** The store's folder, in which there may be a store already. */
  dir: string;
  env: Readonly<Record<string, string | undefined>>;
  logger: Logger;
  hostname: string;
  /** True where there is a mesh: nothing can be made or joined beside it. */
  hasMesh: boolean;
}
