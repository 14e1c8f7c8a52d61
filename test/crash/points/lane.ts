import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { workspaceRoot } from '../../environment.js';
import { checkAfterDeath, promised } from './after-death.js';
import { operations } from './operations.js';
import type { Point, Steps, VictimTask } from './victim.js';
import { World } from './world.js';

const program = join(workspaceRoot, 'test/dist/crash/points/victim.js');

export interface Failure {
  operation: string;
  point: Point;
  /** What the step does; null for a moment of a process. */
  step: string;
  message: string;
}

export interface Outcome {
  operation: string;
  /** Points there are, and those that were run. */
  all: number;
  run: number;
  /** Of those that were run, where the process was really killed. */
  killed: number;
  failures: Failure[];
}

/** A folder in which one operation after the other is interrupted. */
export class Lane {
  readonly #world: World;
  readonly #root: string;
  #isBuilt = false;

  /** In a new folder in `parent`. */
  constructor(parent: string = tmpdir()) {
    this.#root = realpathSync(mkdtempSync(join(parent, 'mesh-points-')));
    this.#world = new World(this.#root);
    mkdirSync(join(this.#root, 'tmp'));
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }

  /** Kills an operation at each of the points that `choose` takes of all, and looks at what is left each time. */
  async run(name: string, choose: (points: Point[]) => readonly Point[]): Promise<Outcome> {
    const operation = operations[name];
    if (operation === undefined) throw new Error(`there is no operation ${name}`);
    const world = this.#world;
    if (this.#isBuilt) world.restore('built');
    else {
      await world.build();
      world.save('built');
      this.#isBuilt = true;
    }
    await operation.prepare?.(world);
    world.save('prepared');
    const before = await promised(world);
    world.restore('prepared');
    const began = performance.now();
    const { steps } = await this.#victim(name, null);
    const usualMs = performance.now() - began;
    if (steps === null) throw new Error(`${name} failed where nothing was to end it`);
    const points = pointsOf(steps);
    const chosen = choose(points);
    const outcome: Outcome = { operation: name, all: points.length, run: 0, killed: 0, failures: [] };
    for (const point of chosen) {
      world.restore('prepared');
      outcome.run += 1;
      try {
        const { killed } = await this.#victim(name, point);
        if (killed) outcome.killed += 1;
        await checkAfterDeath(world, operation, before, usualMs);
      } catch (error) {
        const step = (point.of === 'disk' ? steps.disk : steps.processes)[point.at - 1] ?? '?';
        const message = error instanceof Error ? error.message : String(error);
        outcome.failures.push({ operation: name, point, step, message });
      }
    }
    return outcome;
  }

  /** Steps are null where it was killed. @throws Error with what it printed where it failed by itself. */
  async #victim(operation: string, point: Point | null): Promise<{ killed: boolean; steps: Steps | null }> {
    const task: VictimTask = { root: this.#root, operation, point };
    const child = spawn(process.execPath, [program, JSON.stringify(task)], {
      env: { ...this.#world.env, TMPDIR: join(this.#root, 'tmp') },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const signal = await new Promise<NodeJS.Signals | null>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (_code, by) => {
        resolve(by);
      });
    });
    if (signal === 'SIGKILL') return { killed: true, steps: null };
    if (stdout === '') throw new Error(`it failed by itself: ${stderr}`);
    return { killed: false, steps: JSON.parse(stdout) as Steps };
  }
}

/**
 * Before and in the middle of each step of writing, and three moments of each process that is started. The moment after
 * a step is that before the next one, unless a process comes between or it is the last.
 */
function pointsOf({ disk, processes, before }: Steps): Point[] {
  const points: Point[] = [];
  for (const [index, step] of disk.entries()) {
    const at = index + 1;
    points.push({ of: 'disk', at, when: 'before' });
    if (step.startsWith('write ')) points.push({ of: 'disk', at, when: 'half' });
    if (at === disk.length || before.includes(at)) points.push({ of: 'disk', at, when: 'after' });
  }
  for (const index of processes.keys()) {
    for (const when of ['started', 'answered', 'ended'] as const) points.push({ of: 'process', at: index + 1, when });
  }
  return points;
}
