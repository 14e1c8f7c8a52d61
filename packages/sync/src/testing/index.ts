export { CuttingProxy } from './cutting-proxy.js';
export { HttpGitServer } from './http-git-server.js';
export { noSshd, Sshd } from './sshd.js';
export { verifyAdvance } from '../verify.js';
export { setupContext } from '../setup-context.js';
