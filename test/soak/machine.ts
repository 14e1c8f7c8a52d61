import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { cleanEnvironment, type Environment } from '../environment.js';
import { stockGit } from '../stock-git.js';
import { Commands } from './command.js';
import { joined, preload } from './preload.js';
import type { ResidentProcess } from './resident-process.js';
import type { Mischief, Resident } from './schedule.js';
import { ServerProcess } from './server-process.js';
import type { SmallDisk } from './small-disk.js';
import { WatchProcess } from './watch-process.js';

export interface MachineOptions {
  root: string;
  handle: string;
  launcher: string;
  servers: number;
  skewMs: number;
  disk: SmallDisk | null;
  /** Stands in the environment of each of its processes. */
  mark: string;
  onUnexpectedEnd: (text: string) => void;
  onBadAnswer: (text: string) => void;
  onMischief: (how: Mischief['how']) => void;
}

/** One machine of a soak: a store, one or two servers, a worker and single commands, with a clock of its own. */
export class SoakMachine {
  readonly handle: string;
  readonly root: string;
  readonly store: string;
  readonly servers: ServerProcess[];
  readonly watch: WatchProcess;
  readonly commands: Commands;

  constructor(options: MachineOptions) {
    const { handle, launcher, disk, mark, skewMs, onUnexpectedEnd, onBadAnswer, onMischief } = options;
    this.handle = handle;
    this.root = join(options.root, handle);
    this.store = join(disk?.folder ?? this.root, 'store');
    mkdirSync(this.root, { recursive: true });
    const clock: Environment = skewMs === 0 ? {} : { ...preload('shifted-clock'), SOAK_SKEW_MS: String(skewMs) };
    const env = joined(
      cleanEnvironment(this.root, { GIT_MESH_DIR: this.store, SOAK_MARK: mark }),
      clock,
      disk?.env ?? {},
    );
    const common = { launcher, cwd: this.root, env, onUnexpectedEnd, onBadAnswer };
    const process = (name: string): typeof common & { log: string } => ({
      ...common,
      log: join(this.root, `${name}.log`),
    });
    this.servers = Array.from({ length: options.servers }, (_, index) => {
      return new ServerProcess(`${handle} server-${index}`, process(`server-${index}`));
    });
    this.watch = new WatchProcess(`${handle} watch`, process('watch'));
    this.commands = new Commands({ launcher, cwd: this.root, env, onBadAnswer, onMischief });
  }

  get residents(): ResidentProcess[] {
    return [...this.servers, this.watch];
  }

  resident(name: Resident): ResidentProcess {
    const one = name === 'watch' ? this.watch : this.servers[name === 'server-0' ? 0 : 1];
    if (one === undefined) throw new Error(`${this.handle} has no ${name}`);
    return one;
  }

  /** Stock git on the store. */
  git(args: readonly string[]): string {
    return stockGit(['--git-dir', this.store, ...args]);
  }

  /** The commit of each branch of the mesh, one a line. */
  branches(): string {
    return this.git(['for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads/mesh/']);
  }
}
