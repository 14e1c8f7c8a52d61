export type * from './contract.js';
export { openMesh } from './open.js';
export { initMesh } from './init.js';
export { joinMesh } from './join.js';
export { addRemote } from './remote-add.js';
export { reclaimBranch } from './reclaim.js';
export { removeRemote } from './remote-remove.js';
export { redactUrl } from './remote-url.js';
