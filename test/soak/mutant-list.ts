import type { FaultFound } from './ledger.js';
import type { FaultKind } from './schedule.js';

/** A wrong git-mesh, as changes to the text of its build, and how the soak must see it. */
export interface Mutant {
  name: string;
  /** What it does wrong. */
  does: string;
  changes: { file: string; replace: string; by: string }[];
  /** Which faults bring it to light. */
  faults: FaultKind[];
  /** One of these must be among the findings. */
  shows: FaultFound[];
}

const push = 'sync/dist/remote-push.js';

export const mutants: readonly Mutant[] = [
  {
    name: 'drop-when-refused',
    does: 'takes back what a remote refused, as if it had never been sent',
    changes: [
      {
        file: push,
        replace: `            requireAccepted(results, remote.name);
            return null;`,
        by: `            if (results.some(({ ok }) => !ok) && there !== null) {
                await mesh.store.withLock(() => mesh.store.refs.update(ref, { expected: next, next: there })).catch(() => undefined);
                return null;
            }
            requireAccepted(results, remote.name);
            return null;`,
      },
    ],
    faults: ['refuse', 'slow'],
    shows: ['lost'],
  },
  {
    name: 'pushed-before-proven',
    does: 'counts the queue as pushed before the remote has answered',
    changes: [
      {
        file: push,
        replace: `            const moved = await pushStep(ctx, there, next);`,
        by: `            await notePushed(ctx, next);
            const moved = await pushStep(ctx, there, next);`,
      },
    ],
    faults: ['refuse', 'slow', 'kill'],
    shows: ['false state'],
  },
  {
    name: 'force',
    does: 'pushes over whatever another process of its store brought there',
    changes: [
      {
        file: push,
        replace: `            if (now !== there)
                return { moved: now };
            const update = { ref, expected: there, next };`,
        by: `            const update = { ref, expected: now, next };`,
      },
    ],
    faults: ['slow', 'pause'],
    shows: ['forced push'],
  },
  {
    name: 'answer-before-durable',
    does: 'answers a send before its commit is made',
    changes: [
      {
        file: 'core/dist/mesh/send.js',
        replace: `        const { journal } = await commitChange(ctx, state, {`,
        by: `        const commitLater = (change) => {
            setTimeout(() => void locked(ctx, (later) => commitChange(ctx, later, change)).catch(() => undefined), 400);
            const entry = {
                n: state.journal.highest + 1, id: record.id, sender: ctx.branches.own, agent: record.from.agent ?? null,
                to: record.to.machine, to_agent: record.to.agent ?? null, type: record.type, sent_at: record.sent_at,
                expires_at: record.expires_at, at: record.sent_at, seq: 0, in_reply_to: null, repo: null, reason: null, key: null,
            };
            return { journal: { messages: [], pushed: [], receipts: [], acked: [], byIdFrom: () => entry } };
        };
        const { journal } = commitLater({`,
      },
    ],
    faults: ['kill'],
    shows: ['lost'],
  },
  {
    name: 'prune-early',
    does: 'takes messages out of the tip that nobody read and that have not expired',
    changes: [
      {
        file: 'core/dist/domain/message-prune.js',
        replace: `    const expired = believedExpiry(entry, now) + dayMs;`,
        by: `    const expired = fromIso(entry.sent_at) + 2_000;`,
      },
    ],
    faults: [],
    shows: ['lost'],
  },
  {
    name: 'cursor-before-messages',
    does: 'journals how far it came before the messages that it came by',
    changes: [
      {
        file: 'sync/dist/journal-arrivals.js',
        replace: `            await store.journal.append(entries, { durable: true });`,
        by: `            await store.journal.append(entries.filter(({ kind }) => kind === 'cursor'), { durable: true });
            await new Promise((resolve) => setTimeout(resolve, 60));
            await store.journal.append(entries.filter(({ kind }) => kind !== 'cursor'), { durable: true });`,
      },
    ],
    faults: ['kill', 'full'],
    shows: ['lost'],
  },
  {
    name: 'no-store-lock',
    does: 'takes the store lock for free, whoever holds it',
    changes: [
      {
        file: 'core/dist/store/store-lock.js',
        replace: `            const nonce = await this.#acquire(contending, patience);`,
        by: `            const nonce = 'none';`,
      },
    ],
    faults: [],
    shows: ['lost', 'duplicated', 'number', 'store', 'hung', 'denied but stored'],
  },
  {
    name: 'no-lock-no-compare',
    does: 'takes the store lock for free and moves a ref from wherever it is',
    changes: [
      {
        file: 'core/dist/store/store-lock.js',
        replace: `            const nonce = await this.#acquire(contending, patience);`,
        by: `            const nonce = 'none';`,
      },
      {
        file: 'core/dist/store/refs.js',
        replace: `            if (current !== change.expected)`,
        by: `            if (current === undefined)`,
      },
    ],
    faults: [],
    shows: ['lost'],
  },
];
