import { byServer } from './access.js';
import type { Ledger } from './ledger.js';
import type { SoakMachine } from './machine.js';
import type { Observed, ObservedInbox, ObservedMachine } from './observed.js';
import { reader, sinks } from './schedule.js';

/** What stands in the mesh now, at every machine: from the tools and, for what they do not list whole, from its store. */
export async function observe(ledger: Ledger, machines: readonly SoakMachine[]): Promise<Observed> {
  return { machines: await Promise.all(machines.map((machine) => observeMachine(ledger, machine, machines))) };
}

async function observeMachine(
  ledger: Ledger,
  machine: SoakMachine,
  machines: readonly SoakMachine[],
): Promise<ObservedMachine> {
  const [server] = machine.servers;
  if (server === undefined) throw new Error(`${machine.handle} has no server`);
  const access = byServer(server);
  const inboxes: ObservedInbox[] = [];
  for (const agent of [...sinks, reader]) inboxes.push({ agent, messages: await wholeInbox(machine, agent) });
  const sent = await access.sent();
  if (sent.outcome !== 'accepted') throw new Error(`${machine.handle} does not tell what it sent: ${sent.error ?? ''}`);
  return {
    handle: machine.handle,
    inboxes,
    sentInHistory: sentInHistory(machine),
    sentInTip: filesIn(machine, machine.handle, 'messages/').map(({ name }) => name),
    acks: machines.flatMap(({ handle }) => acksOf(machine, handle)),
    sent: sent.value.messages.map(({ id, to, state, delivered_to: delivered, acks }) => ({
      id,
      to,
      state,
      deliveredTo: delivered.map((one) => one.machine),
      acks: acks.map((one) => ({ machine: one.machine, agent: one.agent })),
    })),
  };

  async function wholeInbox({ handle }: SoakMachine, agent: string): Promise<ObservedInbox['messages']> {
    const messages: ObservedInbox['messages'] = [];
    for (let after: number | null = null; ;) {
      const page = await access.inbox(agent, after);
      if (page.outcome !== 'accepted')
        throw new Error(`${handle} does not show the inbox of ${agent}: ${page.error ?? ''}`);
      for (const { id, message_id: messageId, from, msg_type: type, payload, directed } of page.value.messages) {
        const sender = { machine: from.machine, agent: from.agent };
        messages.push({ id, messageId, from: sender, type, payload, directed });
        ledger.sightings.push({ machine: handle, id, messageId, from: sender, type, payload, inbox: agent });
      }
      after = page.value.messages.at(-1)?.message_id ?? null;
      if (page.value.remaining === 0 || after === null) return messages;
    }
  }
}

/** The messages that the commits of a machine's branch say were sent, oldest first. */
function sentInHistory(machine: SoakMachine): string[] {
  const format =
    '--format=%(trailers:key=Mesh-Event,valueonly,separator=)|%(trailers:key=Mesh-Message,valueonly,separator=%x2C)';
  return machine
    .git(['log', '--reverse', format, `refs/heads/mesh/${machine.handle}`])
    .split('\n')
    .filter((line) => line.startsWith('send|'))
    .flatMap((line) => line.slice('send|'.length).split(','));
}

interface BranchFile {
  path: string;
  /** Without its folder and ending. */
  name: string;
  blob: string;
}

/** The files of a branch in a machine's store. */
function filesIn(machine: SoakMachine, branch: string, folder: string): BranchFile[] {
  const lines = machine.git(['ls-tree', '-r', `refs/heads/mesh/${branch}`, folder]);
  return lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [facts = '', path = ''] = line.split('\t');
      return { path, name: path.slice(path.lastIndexOf('/') + 1, -'.yaml'.length), blob: facts.split(' ')[2] ?? '' };
    });
}

/** What a branch acknowledges of a machine's messages, as that machine's own store has it. */
function acksOf(machine: SoakMachine, branch: string): ObservedMachine['acks'] {
  const files = filesIn(machine, branch, `acks/${machine.handle}/`);
  const acks: ObservedMachine['acks'] = [];
  for (const { name: id, blob } of files) {
    // Every agent's name here is a plain word.
    for (const [, agent = ''] of machine.git(['cat-file', 'blob', blob]).matchAll(/^\s*- agent: (\S+)$/gm)) {
      acks.push({ machine: branch, agent, id });
    }
  }
  return acks;
}
