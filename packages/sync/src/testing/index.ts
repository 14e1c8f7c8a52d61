export { CuttingProxy } from './cutting-proxy.js';
export { HttpGitServer } from './http-git-server.js';
export { Peer, remoteMesh, settle } from './remote-mesh.js';
export type { RemoteMesh } from './remote-mesh.js';
export { noSshd, Sshd } from './sshd.js';
export { setupContext } from '../setup-context.js';
