export { runMcpHttp } from './run-mcp-http.js';
export type { RunMcpHttpOptions } from './run-mcp-http.js';
