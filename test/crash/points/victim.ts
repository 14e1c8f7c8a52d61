import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { nodeFs } from '@git-mesh/core';
import { faultyFs } from '@git-mesh/core/testing';

// The process that dies: runs one operation on a disk that ends it at one step of its writing, or at one moment of a
// process that it starts. Where it lives, it prints the steps there were.

export interface VictimTask {
  root: string;
  operation: string;
  /** Null where it is to live. */
  point: Point | null;
}

export type Point =
  | { of: 'disk'; at: number; when: 'before' | 'half' | 'after' }
  | { of: 'process'; at: number; when: 'started' | 'answered' | 'ended' };

/** What an operation does, in its order: `write mesh/journal`… */
export interface Steps {
  disk: string[];
  processes: string[];
  /** How many of `disk` there were before each of `processes`. */
  before: number[];
}

const never = 1_000_000;
const task = JSON.parse(process.argv[2] ?? '') as VictimTask;
const { point, root } = task;
const steps: Steps = { disk: [], processes: [], before: [] };

const disk = point?.of === 'disk' ? { at: point.at, when: point.when } : { at: never, when: 'before' as const };
const faulty = faultyFs({ ...nodeFs }, { ...disk, what: 'exit' }, (kind, path) => {
  steps.disk.push(`${kind} ${path.slice(root.length + 1)}`);
});
// Everything that is written, in the store and beside it, goes through this one object.
Object.assign(nodeFs, faulty);

const die = (): void => {
  process.kill(process.pid, 'SIGKILL');
};
const { spawn } = childProcess;
childProcess.spawn = ((...args: Parameters<typeof spawn>) => {
  const child = spawn(...args);
  steps.processes.push(args[0]);
  steps.before.push(steps.disk.length);
  if (point?.of === 'process' && point.at === steps.processes.length) {
    if (point.when === 'started') die();
    else if (point.when === 'answered') child.stdout?.once('data', die);
    else child.once('exit', die);
  }
  return child;
}) as typeof spawn;
syncBuiltinESMExports();

// Only now: what they import of node is what stands there by then.
const { World } = await import('./world.js');
const { operations } = await import('./operations.js');
const operation = operations[task.operation];
if (operation === undefined) throw new Error(`there is no operation ${task.operation}`);
await operation.run(new World(root));
process.stdout.write(JSON.stringify(steps));
process.exit(0);
