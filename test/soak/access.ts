import type { AckResult, CheckinResult, CheckoutResult, InboxResult, SendResult, SentResult } from '@git-mesh/core';
import type { Answer } from './answer.js';
import type { Commands } from './command.js';
import type { Message } from './ledger.js';
import type { Mischief } from './schedule.js';
import type { ServerProcess } from './server-process.js';

/** What an agent does with its mesh, by whichever way. */
export interface Access {
  /** Whom a send comes from that does not say it. */
  speaker(): string | null;
  send(message: Message): Promise<Answer<SendResult>>;
  /** What comes after the message with that number. */
  inbox(agent: string, after: number | null): Promise<Answer<InboxResult>>;
  ack(agent: string, numbers: readonly number[]): Promise<Answer<AckResult>>;
  sent(): Promise<Answer<SentResult>>;
  checkin(agent: string, fields: { status: string; ttl: number }): Promise<Answer<CheckinResult>>;
  checkout(agent: string): Promise<Answer<CheckoutResult>>;
  agents(): Promise<Answer<unknown>>;
}

const given = (name: string, value: string | null): Record<string, string> => (value === null ? {} : { [name]: value });

export function byServer(server: ServerProcess): Access {
  return {
    speaker: () => server.onlyAgent,
    send: ({ to, toAgent, from, isNamed, type, key, payload }) =>
      server.call('agent_send', {
        to,
        msg_type: type,
        payload,
        ...given('to_agent', toAgent),
        ...given('from_agent', isNamed ? from : null),
        ...given('key', key),
      }),
    inbox: (agent, after) =>
      server.call('agent_inbox', { agent_id: agent, limit: 100, ...(after === null ? {} : { after }) }),
    ack: (agent, numbers) => server.call('agent_ack', { agent_id: agent, message_ids: numbers, confirm: true }),
    sent: () => server.call('agent_sent', { limit: 100 }),
    checkin: (agent, { status, ttl }) =>
      server.call('agent_checkin', { agent_id: agent, status, ttl_seconds: ttl, confirm: true }),
    checkout: (agent) => server.call('agent_checkout', { agent_id: agent, confirm: true }),
    agents: () => server.call('agents_list', {}),
  };
}

const flag = (name: string, value: string | number | null): string[] => (value === null ? [] : [name, String(value)]);

export function byCommand(commands: Commands, mischief: Mischief | null): Access {
  return {
    speaker: () => null,
    send: ({ to, toAgent, from, isNamed, type, key, payload }) => {
      const rest = [...flag('--to-agent', toAgent), ...flag('--from', isNamed ? from : null), ...flag('--key', key)];
      return commands.run(['send', to, type, '--payload', JSON.stringify(payload), ...rest], mischief);
    },
    inbox: (agent, after) => commands.run(['inbox', agent, '--limit', '100', ...flag('--after', after)], mischief),
    ack: (agent, numbers) => commands.run(['ack', agent, ...numbers.map(String)], mischief),
    sent: () => commands.run(['sent', '--limit', '100'], mischief),
    checkin: (agent, { status, ttl }) =>
      commands.run(['checkin', agent, '--status', status, '--ttl', String(ttl)], mischief),
    checkout: (agent) => commands.run(['checkout', agent], mischief),
    agents: () => commands.run(['agents'], mischief),
  };
}
