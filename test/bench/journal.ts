import { randomBytes } from 'node:crypto';
import { mkdtempSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Store, isUlid, parseAgentId, parseHandle, silentLogger } from '@git-mesh/core';
import { initMesh, joinMesh } from '@git-mesh/sync';
import { cleanEnvironment, launcher } from '../environment.js';
import { bareRemote } from '../stock-git.js';
import { costOf } from './command-cost.js';
import { median } from './measure.js';

type Entries = Parameters<Store['journal']['append']>[0];

/** What commands cost in a store through which so many messages went, all but one of them done with. */
export interface JournalCost {
  messages: number;
  /** Bytes of the journal, and of its snapshot. */
  journal: number;
  snapshot: number;
  /** Milliseconds of processor time, medians; `hookBefore` is that of the first commands, which find no snapshot. */
  node: number;
  hookBefore: number;
  hook: number;
  inbox: number;
}

const batch = 500;
const minuteMs = 60_000;
const laptop = parseHandle('laptop');
/** Whose branch is not here: a tip that was journaled is one that was read. */
const server = parseHandle('server');
const agent = parseAgentId('qa');

/** Messages of both directions, one a minute, with what is journaled of their ways: some two lines for each. */
function passed(
  numbers: readonly number[],
  from: number,
  like: Extract<Entries[number], { kind: 'message' }>,
): Entries {
  return numbers.flatMap((n): Entries => {
    const at = new Date(from + n * minuteMs).toISOString();
    const id = `01J${String(n).padStart(23, '0')}`;
    if (!isUlid(id)) throw new Error(`${id} is no ULID`);
    const commit = like.blob;
    const message = { ...like, n, id, seq: n, at, sent_at: at, expires_at: at };
    if (n % 2 === 0)
      return [
        { ...message, sender: laptop },
        { kind: 'cursor', sender: server, commit, seq: n, at },
      ];
    return [
      { ...message, to: laptop },
      { kind: 'receipt', machine: laptop, seq: n, at },
      { kind: 'acked', id, machine: laptop, agent, at },
    ];
  });
}

async function fill(dir: string, messages: number): Promise<void> {
  const clock = { now: () => Date.now() };
  const store = await Store.open(dir, { clock, random: (length) => randomBytes(length), logger: silentLogger });
  await store.withLock(async () => {
    const view = await store.journal.view();
    const [like] = view.messages;
    if (like === undefined) throw new Error('there is no message to go by');
    const path = 'messages/studio/2024-01-01/0000/gone.yaml';
    for (let n = view.highest + 1; n <= messages; n += batch) {
      const numbers = Array.from({ length: batch }, (_, i) => n + i);
      const from = Date.now() - (messages + batch) * minuteMs;
      await store.journal.append(passed(numbers, from, { ...like, path }), { durable: false });
    }
  });
}

/** In turns with `node -e 0`, at each of these numbers of messages. */
export async function measureJournal(dir: string, sizes: readonly number[], runs: number): Promise<JournalCost[]> {
  const costs: JournalCost[] = [];
  for (const messages of sizes) {
    const root = mkdtempSync(join(dir, 'journal-'));
    const store = join(root, 'store');
    const env = { ...cleanEnvironment(root), GIT_MESH_DIR: store };
    const options = { cwd: root, env };
    const member = (handle: string) => ({ env, logger: silentLogger, hostname: handle, machine: handle });
    const remote = bareRemote(root);
    await initMesh({ ...member('studio'), dir: store, remote });
    await joinMesh({ ...member('laptop'), dir: join(root, 'laptop'), url: remote });
    for (const args of [['checkin', 'qa', '--ttl', '86400'], ['send', 'studio', 'note', '--message', 'x'], ['sync']])
      costOf([launcher, ...args], options);
    await fill(store, messages);
    const hook = [launcher, 'hook', 'claude-code', 'Stop'];
    const inbox = [launcher, 'inbox', 'qa'];
    const cpu = (args: readonly string[]): number => costOf(args, options).cpu;
    const times = <T>(work: () => T): T[] => Array.from({ length: runs }, work);
    cpu(hook);
    const hookBefore = median(times(() => cpu(hook)));
    // Its round settles the journal.
    cpu(inbox);
    const turns = times(() => [cpu(['-e', '0']), cpu(hook), cpu(inbox)] as const);
    const journal = join(store, 'mesh', 'journal');
    costs.push({
      messages,
      journal: statSync(journal).size,
      snapshot: statSync(`${journal}.snapshot`, { throwIfNoEntry: false })?.size ?? 0,
      node: median(turns.map(([node]) => node)),
      hookBefore,
      hook: median(turns.map(([, ms]) => ms)),
      inbox: median(turns.map(([, , ms]) => ms)),
    });
  }
  return costs;
}

/** The costs as a Markdown table. */
export function journalTable(costs: readonly JournalCost[]): string {
  const kib = (bytes: number): string => `${Math.round(bytes / 1024)} KiB`;
  const rows = costs.map(({ messages, journal, snapshot, node, hookBefore, hook, inbox }) => {
    const times = [node, hookBefore, hook, inbox].map((ms) => `${Math.round(ms)} ms`);
    return [
      String(messages),
      kib(journal),
      kib(snapshot),
      ...times,
      (hook / node).toFixed(2),
      (inbox / node).toFixed(2),
    ];
  });
  const head = ['messages passed', 'journal', 'snapshot', 'node -e 0', 'hook, no snapshot', 'hook', 'inbox'];
  return [[...head, 'hook ratio', 'inbox ratio'], Array<string>(9).fill('---:'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}
