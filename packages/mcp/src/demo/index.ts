export { runDemo } from './run-demo.js';
export type { DemoOptions } from './run-demo.js';
export type { DemoOutput } from './narrator.js';
