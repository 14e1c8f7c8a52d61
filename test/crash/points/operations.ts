import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { MeshError, isUlid, settleJournal } from '@git-mesh/core';
import type { ErrorName } from '@git-mesh/core';
import { addRemote, initMesh, joinMesh, removeRemote } from '@git-mesh/sync';
import { stockGit } from '../../stock-git.js';
import { age } from './leftovers.js';
import { housekeepingAt, shifted } from './shifted.js';
import { newCall } from './world.js';
import type { World } from './world.js';

/** One operation of a machine, and what tells whether it took place. */
export interface Operation {
  /** What has to be there before, from the world as it was built. */
  prepare?: (world: World) => Promise<void>;
  /** The operation itself; run again as its repetition. */
  run: (world: World) => Promise<unknown>;
  /** True once it took place wholly, false where nothing of it did. Throws for anything in between. */
  isDone: (world: World) => Promise<boolean>;
  /** Repeated only where it did not take place: to do it again would be another one of its kind. */
  once?: true;
  /** The store in question, where it is another than studio's and made by the operation. */
  makes?: string;
  /** What the repetition of one that took place may answer. */
  answers?: ErrorName;
  /** The operation loses the old numbers on purpose. */
  renumbers?: true;
  /** The mark of the message that it takes out of the inbox. */
  acks?: string;
  /** It runs at a later time than the checks. */
  isAhead?: true;
  /** What removes its leftovers that are not in a store. */
  tidy?: (world: World) => Promise<unknown>;
  /** Agents that are there no more when it is done. */
  leaves?: readonly string[];
}

const hourMs = 3_600_000;
const weekLater = 9 * 24 * hourMs;
/** 3 minutes before the presence of an hour ends. */
const nearTheEnd = hourMs - 180_000;

const count = async (world: World, dir: string, mark: string): Promise<number> =>
  world.on(dir, async (mesh) => {
    // As the command does, whose round gives a commit its number that a crash left without.
    await mesh.inlineSync({ deadlineMs: 10_000 });
    const { messages } = await mesh.api.sent({ limit: 100 }, newCall(mesh));
    return messages.filter(({ payload }) => payload['mark'] === mark).length;
  });

const once = (n: number): boolean => {
  if (n > 1) throw new Error(`it took place ${n} times`);
  return n === 1;
};

const record = async (world: World, agent: string): Promise<{ status: string | null; alive: boolean } | undefined> =>
  world.call(world.studio, async (api, call) => {
    const { agents } = await api.agents({ include_stale: true }, call);
    return agents.find(({ agent_id, machine }) => agent_id === agent && machine === 'studio');
  });

/** Marks of what an agent's inbox holds, each of which must be there once. */
async function inbox(world: World, dir: string, agent: string): Promise<string[]> {
  return world.call(dir, async (api, call) => {
    const { messages } = await api.inbox({ agent_id: agent, limit: 100 }, call);
    const marks = messages.map(({ payload }) => JSON.stringify(payload['mark']).slice(1, -1));
    if (new Set(marks).size < marks.length) throw new Error(`${agent} has a message twice: ${marks.join()}`);
    return marks;
  });
}

const tipIn = (repository: string, handle: string): string =>
  stockGit(['--git-dir', repository, 'for-each-ref', '--format=%(objectname)', `refs/heads/mesh/${handle}`]);

const remoteNames = (world: World): Promise<string[]> =>
  world.call(world.studio, async (api) => (await api.status()).remotes.map(({ name }) => name));

const packs = (dir: string): number =>
  readdirSync(join(dir, 'objects', 'pack')).filter((name) => name.endsWith('.idx')).length;

const hasDeltas = (dir: string): boolean =>
  readdirSync(join(dir, 'objects', 'pack'))
    .filter((name) => name.endsWith('.idx'))
    .some((name) => stockGit(['verify-pack', '-s', join(dir, 'objects', 'pack', name)]).includes('chain length'));

const looseObjects = (dir: string): string[] =>
  readdirSync(join(dir, 'objects'))
    .filter((name) => /^[0-9a-f]{2}$/.test(name))
    .flatMap((name) => readdirSync(join(dir, 'objects', name)).map((file) => join(dir, 'objects', name, file)));

const checkin = (agent: string, extra: object = {}): Pick<Operation, 'run'> => ({
  run: (world) =>
    world.call(world.studio, (api, call) => api.checkin({ agent_id: agent, confirm: true, ...extra }, call)),
});

const send = (mark: string, extra: object = {}): Pick<Operation, 'run' | 'isDone'> => ({
  run: (world) => world.send(world.studio, 'lab', mark, extra),
  isDone: async (world) => once(await count(world, world.studio, mark)),
});

/** Two messages and an acknowledgement of lab that studio has not fetched. */
async function newsFromLab(world: World): Promise<void> {
  await world.send(world.lab, 'studio', 'news 1');
  await world.send(world.lab, '*', 'news 2');
  await world.ack(world.lab, 'qa', 'not read there');
  await world.sync(world.lab);
}

async function hasNews(world: World): Promise<boolean> {
  const look = async (): Promise<string[]> =>
    (await inbox(world, world.studio, 'boss')).filter((mark) => mark.startsWith('news'));
  let news = await look();
  // Messages arrive one by one; a batch that was cut short goes on with whatever command is next.
  if (news.length === 1) {
    await world.on(world.studio, (mesh) => mesh.inlineSync({ deadlineMs: 10_000 }));
    news = await look();
  }
  if (news.length === 1) throw new Error(`of two messages in one commit each, only ${news.join()} is numbered`);
  return news.length === 2;
}

/** As many lines of the journal as are worth a snapshot, about messages that are gone. */
async function longJournal(world: World): Promise<void> {
  const { ctx } = await shifted(world.studio, 0);
  await ctx.store.withLock(async () => {
    const { highest, messages } = await ctx.store.journal.view();
    const like = messages.find(({ sender }) => sender === 'lab');
    if (like === undefined) throw new Error('lab has sent nothing');
    const ids = Array.from({ length: 400 }, (_, i) => `01J${String(i).padStart(23, '0')}`).filter(isUlid);
    const path = 'messages/studio/2024-01-01/0000/gone.yaml';
    const entries = ids.map((id, i) => ({ ...like, n: highest + 1 + i, id, path }));
    await ctx.store.journal.append(entries, { durable: true });
  });
}

export const operations: Readonly<Record<string, Operation>> = {
  'check-in': {
    ...checkin('newcomer'),
    isDone: async (world) => (await record(world, 'newcomer'))?.alive === true,
  },
  status: {
    ...checkin('boss', { status: 'thinking' }),
    isDone: async (world) => (await record(world, 'boss'))?.status === 'thinking',
  },
  renewal: {
    isAhead: true,
    run: (world) => housekeepingAt(world.studio, nearTheEnd, 'boss'),
    isDone: async (world) => {
      const { ctx } = await shifted(world.studio, nearTheEnd);
      const records = await ctx.branches.presence(await ctx.branches.ownBranch());
      const boss = records.find(({ agent }) => agent === 'boss');
      return boss !== undefined && Date.parse(boss.expires_at) > Date.now() + hourMs + 60_000;
    },
  },
  checkout: {
    run: (world) => world.call(world.studio, (api, call) => api.checkout({ agent_id: 'helper', confirm: true }, call)),
    isDone: async (world) => (await record(world, 'helper')) === undefined,
    answers: 'not_checked_in',
    leaves: ['helper'],
  },
  send: { ...send('op'), once: true },
  'send with a key': send('op', { key: 'k1', from_agent: 'boss' }),
  'send that joins packs': {
    ...send('op'),
    once: true,
    prepare: async (world) => {
      for (let n = 0; packs(world.studio) !== 15; n++) await world.send(world.studio, 'studio', `filler ${n}`);
    },
  },
  maintain: {
    prepare: (world) => {
      for (let n = 0; n < 3; n++)
        stockGit(['--git-dir', world.studio, 'hash-object', '-w', '--stdin'], { input: `${n}` });
      return Promise.resolve();
    },
    run: (world) => {
      // Each point begins with a copy, whose files are young.
      age(looseObjects(world.studio));
      return world.call(world.studio, (api) => api.maintain());
    },
    isDone: (world) => Promise.resolve(packs(world.studio) === 1 && looseObjects(world.studio).length === 0),
  },
  'maintenance by a worker': {
    prepare: async (world) => {
      const { ctx } = await shifted(world.studio, 0);
      // More than a pack that commits join has.
      const common = randomBytes(300).toString('hex');
      const blobs = Array.from({ length: 300 }, (_, n) => `${common} ${n}`);
      await ctx.store.objects.write(blobs.map((text) => ({ type: 'blob', data: Buffer.from(text) })));
    },
    run: async (world) => {
      const { ctx } = await shifted(world.studio, 0);
      while (await ctx.store.maintain({ whole: false }));
    },
    isDone: (world) => Promise.resolve(hasDeltas(world.studio)),
  },
  ack: {
    run: (world) => world.ack(world.studio, 'boss', 'not read here'),
    isDone: async (world) => !(await inbox(world, world.studio, 'boss')).includes('not read here'),
    acks: 'not read here',
  },
  'rotate-key': {
    once: true,
    run: (world) => world.call(world.studio, (api, call) => api.rotateKey({ confirm: true }, call)),
    isDone: (world) => {
      const yaml = stockGit(['--git-dir', world.studio, 'show', `${tipIn(world.studio, 'studio')}:machine.yaml`]);
      return Promise.resolve(once(yaml.split('signature:').length - 1));
    },
  },
  'fetch, advance, journal, receipt': {
    prepare: newsFromLab,
    run: (world) => world.sync(world.studio),
    isDone: hasNews,
  },
  'journal rebuilt': {
    prepare: async (world) => {
      await newsFromLab(world);
      rmSync(join(world.studio, 'mesh', 'journal'));
    },
    run: (world) => world.sync(world.studio),
    isDone: hasNews,
    renumbers: true,
  },
  'journal settled': {
    prepare: longJournal,
    run: async (world) => settleJournal((await shifted(world.studio, 0)).ctx),
    isDone: async (world) => {
      const { ctx } = await shifted(world.studio, 0);
      const [view, whole] = [await ctx.store.journal.view(), await ctx.store.journal.whole()];
      if (whole.messages.length !== whole.total) throw new Error('a message is gone from the journal');
      return view.messages.length < whole.messages.length;
    },
  },
  push: {
    prepare: async (world) => {
      for (let n = 0; n < 3; n++) await world.send(world.studio, 'lab', `queued ${n}`);
    },
    run: (world) => world.sync(world.studio),
    isDone: (world) => Promise.resolve(tipIn(world.remote, 'studio') === tipIn(world.studio, 'studio')),
  },
  prune: {
    isAhead: true,
    run: (world) => housekeepingAt(world.studio, weekLater),
    isDone: async (world) => {
      const { ctx } = await shifted(world.studio, weekLater);
      const tip = await ctx.branches.ownBranch();
      return !stockGit(['--git-dir', world.studio, 'ls-tree', '-r', '--name-only', tip.tip]).includes('messages/');
    },
    leaves: ['boss', 'helper'],
  },
  'init alone': {
    makes: 'alone',
    run: (world) => initMesh({ ...world.setup(world.path('alone')), machine: 'alone' }),
    isDone: (world) => Promise.resolve(world.has('alone')),
    answers: 'mesh_exists',
  },
  'init with a remote': {
    makes: 'founder',
    prepare: (world) => {
      world.bare('empty.git');
      return Promise.resolve();
    },
    run: (world) =>
      initMesh({ ...world.setup(world.path('founder')), machine: 'founder', remote: world.path('empty.git') }),
    isDone: (world) => {
      const isThere = tipIn(world.path('empty.git'), 'founder') !== '';
      if (isThere && !world.has('founder')) throw new Error('a mesh is on the remote without its founder’s store');
      return Promise.resolve(isThere);
    },
  },
  join: {
    makes: 'third',
    run: (world) => joinMesh({ ...world.setup(world.path('third')), machine: 'third', url: world.remote }),
    isDone: (world) => {
      const isThere = tipIn(world.remote, 'third') !== '';
      if (isThere && !world.has('third')) throw new Error('a handle is taken by a machine without a store');
      return Promise.resolve(isThere);
    },
    answers: 'mesh_exists',
  },
  'remote add': {
    prepare: (world) => {
      world.bare('other.git');
      return Promise.resolve();
    },
    run: (world) => addRemote({ ...world.setup(world.studio), name: 'other', url: world.path('other.git') }),
    isDone: async (world) => (await remoteNames(world)).includes('other'),
    answers: 'conflict',
  },
  'remote remove': {
    prepare: async (world) => {
      const url = world.bare('other.git');
      await addRemote({ ...world.setup(world.studio), name: 'other', url });
    },
    run: (world) => removeRemote({ ...world.setup(world.studio), name: 'other' }),
    isDone: async (world) => !(await remoteNames(world)).includes('other'),
    answers: 'not_found',
  },
  export: {
    prepare: (world) => {
      world.bare('reader.git');
      return Promise.resolve();
    },
    run: (world) =>
      world.on(world.studio, (mesh) => mesh.exportBundle({ file: world.path('out.bundle'), sinceLast: 'usb' })),
    // What was left beside a bundle, the next export to the same folder removes.
    tidy: (world) => world.on(world.studio, (mesh) => mesh.exportBundle({ file: world.path('next.bundle') })),
    isDone: (world) => {
      const file = world.path('out.bundle');
      if (!existsSync(file)) return Promise.resolve(false);
      stockGit(['--git-dir', world.path('reader.git'), 'bundle', 'verify', file]);
      return Promise.resolve(statSync(file).size > 0);
    },
  },
  import: {
    prepare: async (world) => {
      await world.send(world.lab, 'studio', 'news 1');
      await world.send(world.lab, '*', 'news 2');
      await world.on(world.lab, (mesh) => mesh.exportBundle({ file: world.path('in.bundle') }));
    },
    run: (world) => world.on(world.studio, (mesh) => mesh.importBundle({ file: world.path('in.bundle') })),
    isDone: hasNews,
  },
};

/** Runs an operation again after it was interrupted. */
export async function repeat(world: World, operation: Operation): Promise<void> {
  try {
    await operation.run(world);
  } catch (error) {
    const isAnswer = error instanceof MeshError && error.errorName === operation.answers;
    if (!isAnswer) throw error;
  }
}
