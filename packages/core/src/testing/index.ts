export { faultyFs } from './faulty-fs.js';
export type { Fault, FsStep } from './faulty-fs.js';
export { newStore, storeConfig, storeDeps, temporaryFolder } from './store-fixture.js';
