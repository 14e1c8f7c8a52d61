export { faultyFs } from './faulty-fs.js';
export type { Fault, FsStep } from './faulty-fs.js';
export { newStore, storeConfig, storeDeps, temporaryFolder } from './store-fixture.js';
export { fsck, git } from './git.js';
export { loseObject } from './lose-object.js';
export { manualClock } from './manual-clock.js';
export type { ManualClock } from './manual-clock.js';
export { TestMachine, testMesh } from './mesh-fixture.js';
export type { TestMesh } from './mesh-fixture.js';
