import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { silentLogger } from '@git-mesh/core';
import type { CallOptions, Logger, MeshApi } from '@git-mesh/core';
import { initMesh, joinMesh, openMesh } from '@git-mesh/sync';
import type { OpenMesh } from '@git-mesh/sync';
import { cleanEnvironment } from '../../environment.js';
import { stockGit } from '../../stock-git.js';

export const quiet: Logger = silentLogger;

/** A mesh of two machines on a shared repository, all in one folder, so that it can be put back as it was. */
export class World {
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;

  /** `root` keeps its name: the stores hold the remotes' paths. */
  constructor(root: string) {
    this.root = root;
    mkdirSync(root, { recursive: true });
    this.env = cleanEnvironment(root);
  }

  path(...names: string[]): string {
    return join(this.root, 'live', ...names);
  }

  /** The machine whose process dies. */
  get studio(): string {
    return this.path('studio');
  }

  get lab(): string {
    return this.path('lab');
  }

  get remote(): string {
    return this.path('hub.git');
  }

  open(dir: string): Promise<OpenMesh> {
    return openMesh({ dir, env: this.env, logger: quiet });
  }

  setup(dir: string): { dir: string; env: Readonly<Record<string, string>>; logger: Logger; hostname: string } {
    return { dir, env: this.env, logger: quiet, hostname: 'host' };
  }

  /** Runs `work` on an open mesh, as a command does. */
  async on<T>(dir: string, work: (mesh: OpenMesh) => Promise<T>): Promise<T> {
    const mesh = await this.open(dir);
    try {
      return await work(mesh);
    } finally {
      await mesh.close();
    }
  }

  async call<T>(dir: string, work: (api: MeshApi, call: CallOptions) => Promise<T>): Promise<T> {
    return this.on(dir, (mesh) => work(mesh.api, newCall(mesh)));
  }

  async sync(dir: string): Promise<void> {
    await this.on(dir, async (mesh) => {
      const { state, error } = await mesh.syncNow();
      if (error !== null) throw new Error(`the sync of ${dir} is ${state}: ${error.message}`);
    });
  }

  async send(dir: string, to: string, mark: string, extra: object = {}): Promise<{ id: string; message_id: number }> {
    return this.call(dir, (api, call) => api.send({ to, msg_type: 'note', payload: { mark }, ...extra }, call));
  }

  bare(name: string): string {
    stockGit(['init', '-q', '--bare', '--template=', '-b', 'main', this.path(name)]);
    return this.path(name);
  }

  /** Two machines that know each other, one agent on each, a message read and one unread in either direction. */
  async build(): Promise<void> {
    rmSync(this.path(), { recursive: true, force: true });
    mkdirSync(this.path(), { recursive: true });
    this.bare('hub.git');
    await initMesh({ ...this.setup(this.studio), remote: this.remote, machine: 'studio' });
    await joinMesh({ ...this.setup(this.lab), url: this.remote, machine: 'lab' });
    const checkin = (dir: string, agent: string): Promise<unknown> =>
      this.call(dir, (api, call) => api.checkin({ agent_id: agent, role: 'builder', confirm: true }, call));
    await checkin(this.studio, 'boss');
    await checkin(this.studio, 'helper');
    await checkin(this.lab, 'qa');
    await this.settle();
    await this.send(this.studio, 'lab', 'read there');
    await this.send(this.studio, 'lab', 'not read there');
    await this.send(this.lab, 'studio', 'read here');
    await this.send(this.lab, 'studio', 'not read here');
    await this.settle();
    await this.ack(this.studio, 'boss', 'read here');
    await this.ack(this.lab, 'qa', 'read there');
    await this.settle();
  }

  async ack(dir: string, agent: string, mark: string): Promise<void> {
    await this.call(dir, async (api, call) => {
      const { messages } = await api.inbox({ agent_id: agent, limit: 100 }, call);
      const ids = messages.filter(({ payload }) => payload['mark'] === mark).map(({ message_id }) => message_id);
      if (ids.length > 0) await api.ack({ agent_id: agent, message_ids: ids, confirm: true }, call);
    });
  }

  /** Both machines exchange what they have. */
  async settle(): Promise<void> {
    for (const dir of [this.studio, this.lab, this.studio, this.lab]) await this.sync(dir);
  }

  save(name: string): void {
    const kept = join(this.root, name);
    rmSync(kept, { recursive: true, force: true });
    cpSync(this.path(), kept, { recursive: true });
  }

  restore(name: string): void {
    rmSync(this.path(), { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    cpSync(join(this.root, name), this.path(), { recursive: true });
  }

  has(name: string): boolean {
    return existsSync(this.path(name));
  }
}

export const newCall = (mesh: OpenMesh): CallOptions => ({ connection: mesh.newConnection({ resident: false }) });
