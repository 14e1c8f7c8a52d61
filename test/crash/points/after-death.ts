import type { OpenMesh } from '@git-mesh/sync';
import { fsck } from '@git-mesh/core/testing';
import { age, leftovers } from './leftovers.js';
import { repeat } from './operations.js';
import type { Operation } from './operations.js';
import { shifted } from './shifted.js';
import { newCall } from './world.js';
import type { World } from './world.js';

/** Longer no lock may keep a command waiting. */
const longestWaitMs = 5_000;

/** What a machine has promised, as its own commands tell it. */
export interface Promised {
  tip: string;
  numbers: ReadonlyMap<string, number>;
  highest: number;
  alive: readonly string[];
  inbox: readonly string[];
  sent: readonly string[];
  pinned: number;
}

export async function promised(world: World, left: readonly string[] = []): Promise<Promised> {
  return world.on(world.studio, async (mesh) => {
    const call = newCall(mesh);
    const { ctx } = await shifted(world.studio, 0);
    const { messages, highest } = await ctx.store.journal.whole();
    const { agents } = await mesh.api.agents({}, call);
    const marks = (list: readonly { payload: Readonly<Record<string, unknown>> }[]): string[] =>
      list.map(({ payload }) => String(payload['mark']));
    return {
      tip: (await ctx.branches.ownBranch()).tip,
      numbers: new Map(messages.map(({ id, n }) => [id, n])),
      highest,
      alive: agents.filter(({ machine }) => machine === 'studio').map(({ agent_id }) => agent_id),
      inbox: left.includes('boss')
        ? []
        : marks((await mesh.api.inbox({ agent_id: 'boss', limit: 100 }, call)).messages),
      sent: marks((await mesh.api.sent({ limit: 100 }, call)).messages),
      pinned: (await ctx.store.local.pins()).size,
    };
  });
}

function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

async function sound(dir: string, when: string): Promise<void> {
  const said = await fsck(dir);
  must(said === '', `git fsck ${when}: ${said}`);
}

/** Everything that must hold after a process died in the middle of an operation. Throws with what does not. */
export async function checkAfterDeath(
  world: World,
  operation: Operation,
  before: Promised,
  usualMs: number,
): Promise<void> {
  const dir = operation.makes === undefined ? world.studio : world.path(operation.makes);
  await sound(world.studio, 'after the death');
  await sound(world.remote, 'of the remote after the death');
  const tookPlace = await operation.isDone(world);
  const began = performance.now();
  if (!(operation.once === true && tookPlace)) await repeat(world, operation);
  const took = performance.now() - began;
  must(took < usualMs + longestWaitMs, `the repetition took ${Math.round(took)} ms: something kept it waiting`);
  must(await operation.isDone(world), 'it was repeated and has not taken place');
  if (operation.makes === undefined) await nothingLost(world, operation, before);
  await delivered(world);
  await clean(world, dir, operation);
}

async function nothingLost(world: World, operation: Operation, before: Promised): Promise<void> {
  const began = performance.now();
  const probe = await world.send(world.studio, 'lab', 'probe');
  must(performance.now() - began < longestWaitMs, 'the next send waited for a lock');
  const left = operation.leaves ?? [];
  const after = await promised(world, left);
  must(probe.message_id > before.highest, `number ${probe.message_id} was given twice`);
  must(new Set(after.numbers.values()).size === after.numbers.size, 'two messages have one number');
  const { ctx } = await shifted(world.studio, 0);
  const damage = await ctx.store.journal.damage();
  must(damage.length === 0, `the journal is damaged: ${JSON.stringify(damage)}`);
  for (const [id, n] of before.numbers) {
    const now = after.numbers.get(id);
    must(
      now === n || (operation.renumbers === true && now !== undefined),
      `message ${n} (${id}) is number ${now ?? 'none'}`,
    );
  }
  for (const mark of before.sent) must(after.sent.includes(mark), `the sent message "${mark}" is lost`);
  must(after.pinned >= before.pinned, 'a pinned key is lost');
  for (const agent of before.alive) {
    must(after.alive.includes(agent) || left.includes(agent), `the agent ${agent} is gone`);
  }
  must(!after.inbox.includes('read here'), 'an acknowledgement is lost');
  if (operation.renumbers === true || left.includes('boss')) return;
  for (const mark of before.inbox) {
    must(after.inbox.includes(mark) || operation.acks === mark, `"${mark}" is lost from the inbox`);
  }
}

/** Both machines exchange all they have: each message of studio's is at lab once. */
async function delivered(world: World): Promise<void> {
  for (const dir of [world.studio, world.lab]) await world.sync(dir);
  const own = await shifted(world.studio, 0);
  const other = await shifted(world.lab, 0);
  const sent = (await own.ctx.store.journal.view()).messages.filter(
    ({ sender, to }) => sender === 'studio' && (to === 'lab' || to === '*'),
  );
  const arrived = (await other.ctx.store.journal.view()).messages.filter(({ sender }) => sender === 'studio');
  for (const { id } of sent) {
    const times = arrived.filter((entry) => entry.id === id).length;
    must(times === 1, `a message (${id}) arrived ${times} times at lab`);
  }
}

async function clean(world: World, dir: string, operation: Operation): Promise<void> {
  age(leftovers(world.path()));
  const mesh: OpenMesh = await world.open(dir);
  try {
    const { ctx } = await shifted(dir, 0);
    await ctx.store.sweep();
    await operation.tidy?.(world);
    const left = leftovers(world.path());
    must(left.length === 0, `left over: ${left.join(', ')}`);
    const { problems } = await mesh.api.doctor();
    const wrong = problems.filter(({ kind }) => kind !== 'clock_behind' || operation.isAhead !== true);
    must(wrong.length === 0, `doctor finds ${JSON.stringify(wrong)}`);
  } finally {
    await mesh.close();
  }
  await sound(dir, 'at the end');
}
