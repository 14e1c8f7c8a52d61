import { expect, test } from 'vitest';
import type { AgentId, EpochMillis, Handle, IsoTime } from '../domain/ids.js';
import { toIso } from '../domain/ids.js';
import { firstMessageDue } from '../domain/message-prune.js';
import { LiveJournalView } from '../store/journal-view.js';
import type { JournalEntry, MessageEntry } from '../store/ports.js';
import type { Branch } from './branches.js';
import { FirstDue } from './first-due.js';

const start = Date.parse('2026-12-03T10:00:00.000Z');
const minuteMs = 60_000;
const studio = 'studio' as Handle;
const branch = { handle: studio } as Branch;

function message(n: number, options: Partial<MessageEntry> = {}): MessageEntry {
  const at = toIso(start + n * minuteMs);
  const id = `01KBXXXXXXXXXXXXXXXXXXXX${String(n).padStart(2, '0')}` as MessageEntry['id'];
  return {
    kind: 'message',
    n,
    id,
    sender: studio,
    type: 'note',
    to: 'laptop' as Handle,
    to_agent: 'builder' as AgentId,
    from_agent: null,
    in_reply_to: null,
    sent_at: at,
    expires_at: toIso(start + (n + 60) * minuteMs),
    at,
    ...options,
  } as MessageEntry;
}

function read(entry: MessageEntry, at: IsoTime): JournalEntry {
  return { kind: 'acked', id: entry.id, machine: 'laptop' as Handle, agent: 'builder' as AgentId, at };
}

/** What is asked for of a journal that grows, beside what all of its messages tell. */
class Asked {
  readonly view = new LiveJournalView();
  readonly first = new FirstDue();
  looks = 0;

  async at(now: EpochMillis): Promise<{ first: EpochMillis; exact: EpochMillis }> {
    const own = this.view.messages;
    const first = await this.first.get({ branch, journal: this.view, now }, () => {
      this.looks += 1;
      return Promise.resolve(own);
    });
    return { first, exact: firstMessageDue({ own, journal: this.view, now }) };
  }

  add(entry: MessageEntry): MessageEntry {
    this.view.add(entry);
    return entry;
  }
}

test('a message that is added, or read, moves the time without a look at all the others', async () => {
  const asked = new Asked();
  const one = asked.add(message(1));
  expect(await asked.at(start)).toMatchObject({ first: start + (24 * 60 + 61) * minuteMs });
  asked.add(message(2, { expires_at: toIso(start + 20 * minuteMs) }));
  const second = await asked.at(start);
  expect(second.first).toBe(second.exact);
  asked.view.add(read(one, toIso(start + 5 * minuteMs)));
  const third = await asked.at(start);
  expect(third).toEqual({ first: start + 65 * minuteMs, exact: start + 65 * minuteMs });
  expect(asked.looks).toBe(1);
});

test('all are looked at again once the time has come, each hour, and where a freeze is cleared', async () => {
  const asked = new Asked();
  asked.add(message(1, { expires_at: toIso(start - 24 * 60 * minuteMs + 30 * minuteMs) }));
  await asked.at(start);
  await asked.at(start + 29 * minuteMs);
  expect(asked.looks).toBe(1);
  await asked.at(start + 30 * minuteMs);
  expect(asked.looks).toBe(2);
  await asked.at(start + 61 * minuteMs);
  expect(asked.looks).toBe(3);
  const cleared = new Asked();
  cleared.add(message(1));
  await cleared.at(start);
  cleared.add(message(2, { type: 'freeze-clear', in_reply_to: message(1).id }));
  await cleared.at(start);
  await cleared.at(start);
  expect(cleared.looks).toBe(2);
});
