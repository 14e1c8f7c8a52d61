import { Worker } from 'node:worker_threads';

const silentMs = 60_000;

/** Runs beside the cases: one that never ends would let nothing else of this process say so. */
const source = `
const { workerData } = require('node:worker_threads');
const { writeSync } = require('node:fs');
const state = new Int32Array(workerData.shared);
let last = -1, since = Date.now();
setInterval(() => {
  const now = Atomics.load(state, 0);
  if (now !== last) { last = now; since = Date.now(); return; }
  if (Date.now() - since < ${silentMs}) return;
  writeSync(2, 'a case hangs: ' + workerData.names[Atomics.load(state, 1)] + ' ' + Atomics.load(state, 2) + '\\n');
  process.kill(process.pid, 'SIGKILL');
}, 1000);
`;

/** Ends this process, and names the case, where one takes longer than a minute. */
export class Watchdog {
  readonly #state: Int32Array;
  readonly #names: readonly string[];
  readonly #worker: Worker;

  constructor(names: readonly string[]) {
    const shared = new SharedArrayBuffer(12);
    this.#state = new Int32Array(shared);
    this.#names = names;
    this.#worker = new Worker(source, { eval: true, workerData: { shared, names } });
  }

  begin(name: string, number: number): void {
    Atomics.store(this.#state, 1, this.#names.indexOf(name));
    Atomics.store(this.#state, 2, number);
    Atomics.add(this.#state, 0, 1);
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}
