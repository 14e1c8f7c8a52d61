import { timed } from '../bench/measure.js';
import type { Task } from './machine-processes.js';
import { YearMachine } from './machine-day.js';

// Started by MachineProcess: some machines of the year, with a clock that is told by how much it is behind.
const real = Date.now.bind(Date);
let behindMs = 0;
Date.now = () => real() - behindMs;

const machines = new Map<string, YearMachine>();

function machine(handle: string): YearMachine {
  const found = machines.get(handle);
  if (found === undefined) throw new Error(`${handle} is in another process`);
  return found;
}

async function perform(task: Task): Promise<void> {
  switch (task.do) {
    case 'add':
      machines.set(task.handle, await YearMachine.add(task.root, task));
      return;
    case 'look':
      for (const one of machines.values()) await one.look(task.look);
      return;
    case 'send':
      for (const { behindMs: at, ...planned } of task.sends) {
        behindMs = at;
        await machine(planned.from).send(planned);
      }
      return;
    case 'sync':
      await machine(task.handle).sync();
      return;
    case 'reopen':
      for (const one of machines.values()) await one.reopen();
      return;
    case 'close':
      for (const one of machines.values()) await one.close();
  }
}

process.on('message', (task: Task) => {
  behindMs = task.behindMs;
  timed(() => perform(task)).then(
    (ms) => process.send?.({ ms }),
    (error: unknown) => process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : 'unknown' }),
  );
});
