export { runMcpServer } from './run-mcp-server.js';
export type { RunMcpServerOptions } from './run-mcp-server.js';
export type { HostProcess } from './stdio.js';
