import type {
  AckDone,
  AckPreview,
  AgentsResult,
  CheckinDone,
  InboxResult,
  SendResult,
  SentMessage,
  SentResult,
} from '@git-mesh/core';
import type { Agent } from './agent.js';
import { run } from './command.js';
import { expectThat } from './demo-failure.js';
import type { Narrator } from './narrator.js';
import { until } from './until.js';
import type { Workspace } from './workspace.js';

export interface Stage {
  narrator: Narrator;
  workspace: Workspace;
  /** The argv prefix of `git-mesh`. */
  cli: readonly string[];
  /** An agent whose server is not started yet; ended when the demo ends. */
  hire: (machine: string, agent: string) => Agent;
  signal: AbortSignal;
}

const repository = 'hub.git';

/** The demo from the first command to the audit. @throws DemoFailure at the first thing that is not as expected. */
export async function tellStory(stage: Stage): Promise<void> {
  await meet(stage);
  const release = stage.hire('studio', 'release');
  const qa = stage.hire('laptop', 'qa');
  await checkIn(stage, release, qa);
  await seeEachOther(stage, release, qa);
  const sent = await announceFreeze(stage, release);
  await readAndAcknowledge(stage, qa, sent);
  await seeReceipt(stage, release, sent);
  await missSomebody(stage, release);
  await audit(stage);
}

async function meet({ narrator, workspace, cli, signal }: Stage): Promise<void> {
  narrator.step(
    'A repository, and two machines that share it',
    'studio and laptop have a store of their own. All they have in common is one bare git\nrepository, here a folder; nothing is running anywhere yet.',
  );
  const options = { cwd: workspace.dir, signal };
  narrator.command(null, `git init --bare -b main ${repository}`);
  await run(['git', 'init', '--quiet', '--bare', '-b', 'main', repository], { ...options, env: workspace.env() });
  for (const [machine, words] of [
    ['studio', ['init', '--remote', repository, '--machine', 'studio']],
    ['laptop', ['join', repository, '--machine', 'laptop']],
  ] as const) {
    narrator.command(machine, `git-mesh ${words.join(' ')}`);
    const out = await run([...cli, ...words, '--json'], { ...options, env: workspace.env(machine) });
    const result = JSON.parse(out) as { machine?: unknown; writable?: unknown };
    expectThat(result.machine === machine, `a machine named ${machine}`, result);
  }
  narrator.checked('both are in the mesh, each with one branch that only it writes');
}

async function checkIn({ narrator }: Stage, release: Agent, qa: Agent): Promise<void> {
  narrator.step(
    'An agent checks in on each machine',
    'Each agent has started `git-mesh mcp` and talks to it by the Model Context Protocol, as a\ncoding agent would. Without confirm: true a check-in is only a preview.',
  );
  const started = await Promise.all([release.start(), qa.start()]);
  for (const tools of started) expectThat(tools.includes('agent_inbox'), 'the mesh tools', tools);
  const arrivals = [
    [release, { agent_id: 'release', role: 'release', repo: 'shop', status: 'cutting 2.1', confirm: true }],
    [qa, { agent_id: 'qa', role: 'reviewer', repo: 'shop', status: 'reading PR 7', confirm: true }],
  ] as const;
  for (const [agent, args] of arrivals) {
    narrator.call(agent.machine, agent.name, 'agent_checkin', args);
    const { result, text } = await agent.call<CheckinDone>('agent_checkin', args);
    narrator.answer(text);
    expectThat(result.alive && result.machine === agent.machine, `${agent.name} alive on ${agent.machine}`, result);
  }
  narrator.checked('both are checked in');
}

async function seeEachOther({ narrator, signal }: Stage, release: Agent, qa: Agent): Promise<void> {
  narrator.step('They find each other', 'What one machine commits, the other fetches: nobody told them of each other.');
  for (const [agent, other] of [
    [release, qa],
    [qa, release],
  ] as const) {
    const args = { agent_id: agent.name };
    narrator.call(agent.machine, agent.name, 'agents_list', args);
    const { text } = await until(
      `${agent.machine} lists ${other.machine}/${other.name}`,
      () => agent.call<AgentsResult>('agents_list', args),
      ({ result }) =>
        result.agents.some(
          (seen) => seen.alive && `${seen.machine}/${seen.agent_id}` === `${other.machine}/${other.name}`,
        ),
      signal,
    );
    if (agent === release) narrator.answer(text);
    narrator.checked(`${agent.name} sees ${other.name} on ${other.machine}`);
  }
}

async function announceFreeze({ narrator, signal }: Stage, release: Agent): Promise<SendResult> {
  narrator.step(
    'release asks everyone to hold merges',
    'A message is safe once it is committed on the own disk. From there it goes out by itself.',
  );
  const args = {
    to: '*',
    msg_type: 'freeze',
    from_agent: 'release',
    payload: { repo: 'shop', reason: 'cutting 2.1, please hold merges' },
  };
  narrator.call(release.machine, release.name, 'agent_send', args);
  const { result, text } = await release.call<SendResult>('agent_send', args);
  narrator.answer(text);
  expectThat(result.recipients.includes('laptop/qa'), 'laptop/qa among the recipients', result);
  await until(
    'the freeze is delivered to laptop',
    () => sentMessage(release, result),
    ({ message }) => message?.state === 'delivered' && message.delivered_to.some(({ machine }) => machine === 'laptop'),
    signal,
  );
  narrator.checked('delivered: laptop has fetched it and says so in a receipt');
  return result;
}

async function readAndAcknowledge({ narrator }: Stage, qa: Agent, sent: SendResult): Promise<void> {
  narrator.step(
    'qa reads it, and says that it has',
    'Reading tells nobody. The acknowledgement does: it means read, not agreed.',
  );
  const args = { agent_id: 'qa', wait_seconds: 10 };
  narrator.call(qa.machine, qa.name, 'agent_inbox', args);
  const inbox = await qa.call<InboxResult>('agent_inbox', args);
  narrator.answer(inbox.text);
  const message = inbox.result.messages.find(({ id }) => id === sent.id);
  expectThat(
    message?.from.machine === 'studio' && message.from.agent === 'release',
    'the freeze from studio/release',
    inbox.result,
  );
  narrator.checked(`message #${message.message_id} is the freeze that release sent`);

  const acknowledge = { agent_id: 'qa', message_ids: [message.message_id] };
  narrator.call(qa.machine, qa.name, 'agent_ack', acknowledge);
  const preview = await qa.call<AckPreview>('agent_ack', acknowledge);
  narrator.answer(preview.text);
  expectThat(preview.result.would_ack.includes(message.message_id), 'a preview that changes nothing', preview.result);
  narrator.call(qa.machine, qa.name, 'agent_ack', { ...acknowledge, confirm: true });
  const done = await qa.call<AckDone>('agent_ack', { ...acknowledge, confirm: true });
  narrator.answer(done.text);
  expectThat(done.result.acked.includes(message.message_id), 'the message acknowledged', done.result);
  const after = await qa.call<InboxResult>('agent_inbox', { agent_id: 'qa' });
  expectThat(after.result.messages.length === 0, 'an empty inbox', after.result);
  narrator.checked('acknowledged, and out of the inbox');
}

async function seeReceipt({ narrator, signal }: Stage, release: Agent, sent: SendResult): Promise<void> {
  narrator.step(
    'release sees who has read it',
    'The acknowledgement came back the same way: as a commit on the branch of laptop.',
  );
  narrator.call(release.machine, release.name, 'agent_sent', { limit: 1 });
  const { message, text } = await until(
    'the freeze is acknowledged by laptop/qa',
    () => sentMessage(release, sent),
    (seen) => seen.message?.state === 'acked',
    signal,
  );
  narrator.answer(text);
  const readers = message?.acks.map(({ machine, agent }) => `${machine}/${agent}`) ?? [];
  expectThat(readers.includes('laptop/qa'), 'laptop/qa among the readers', readers);
  narrator.checked('queued → pushed → delivered → acked, by laptop/qa');
}

async function sentMessage(
  release: Agent,
  sent: SendResult,
): Promise<{ message: SentMessage | undefined; text: string }> {
  const { result, text } = await release.call<SentResult>('agent_sent', { limit: 1 });
  return { message: result.messages.find(({ id }) => id === sent.id), text };
}

async function missSomebody({ narrator }: Stage, release: Agent): Promise<void> {
  narrator.step('A message to somebody who is not there', 'It is refused, and the answer says who is there instead.');
  const args = { to: 'laptop', to_agent: 'deploy', msg_type: 'handoff', payload: { branch: 'release-2.1' } };
  narrator.call(release.machine, release.name, 'agent_send', args);
  const { result, text } = await release.refused('agent_send', args);
  narrator.answer(text);
  expectThat(result['code'] === 404 && result['name'] === 'agent_not_alive', '404 agent_not_alive', result);
  const alive = result['alive_agents'];
  expectThat(Array.isArray(alive) && alive.length === 1 && alive[0] === 'qa', 'qa as the one alive agent', result);
  narrator.checked('404, and qa is named as the agent who is alive there');
}

async function audit({ narrator, workspace, signal }: Stage): Promise<void> {
  narrator.step(
    'The audit needs nothing but git',
    'Everything above is in the history of the repository, by its author.',
  );
  const log = ['git', '--git-dir', repository, 'log', '--all'];
  const options = { cwd: workspace.dir, env: workspace.env(), signal };
  narrator.command(null, `git --git-dir ${repository} log --all --graph --format='%h %an: %s'`);
  const colour = narrator.coloured ? ['--color=always'] : ['--color=never'];
  const graph = await run([...log, '--graph', ...colour, '--format=%C(yellow)%h%C(reset) %an: %s'], options);
  narrator.answer(graph.trimEnd(), { keepColour: true });
  const lines = (await run([...log, '--format=%an|%s'], options)).split('\n');
  for (const [author, event] of [
    ['release', 'checkin'],
    ['qa', 'checkin'],
    ['release', 'send'],
    ['qa', 'ack'],
  ] as const) {
    expectThat(
      lines.some((line) => line.startsWith(`${author}|${event}`)),
      `a commit "${event}" by ${author}`,
      lines,
    );
  }
  narrator.checked('the check-ins, the freeze and its acknowledgement are commits of the agents who made them');
}
