import { expect, it } from 'vitest';
import { runStubbed } from './testing/stub-runtime.js';

// Loaded as the program loads it: never with the program itself.
const { MeshError } = await import('@git-mesh/core');

/** What the command says of an argument that the use case refuses. */
async function said(argv: string, useCase: string, message: string, data: Record<string, unknown>): Promise<string> {
  const error = new MeshError('invalid_argument', message, { data });
  const { err } = await runStubbed(argv.split(' '), { results: { [useCase]: error } });
  return err.replace('git-mesh: ', '').trim();
}

it.each([
  ['trace x', 'trace', 'id', 'ID'],
  ['unsend x', 'unsend', 'id', 'ID'],
  ['admit x', 'admit', 'machine', 'MACHINE'],
  ['admit x --key y', 'admit', 'key', '--key'],
  ['revoke x', 'revoke', 'machine', 'MACHINE'],
  ['checkin x', 'checkin', 'agent_id', 'AGENT'],
  ['checkin x --cap y', 'checkin', 'caps[0]', '--cap'],
  ['ack x 0', 'ack', 'message_ids[0]', 'ID'],
  ['inbox x --wait 99', 'inbox', 'wait_seconds', '--wait'],
  ['agents --as x', 'agents', 'agent_id', '--as'],
  ['sent --as x', 'sent', 'agent_id', '--as'],
  ['send x y', 'send', 'msg_type', 'TYPE'],
  ['send x note --to-agent y', 'send', 'to_agent', '--to-agent'],
  ['send x note --reply-to y', 'send', 'in_reply_to', '--reply-to'],
  ['send x note --message y', 'send', 'payload', '--message'],
  ['send x note --payload {}', 'send', 'payload', '--payload'],
  ['send x freeze --payload {}', 'send', 'payload.repo', 'payload.repo'],
  ['freeze --repo x', 'send', 'payload.repo', '--repo'],
  ['freeze --to x', 'send', 'to', '--to'],
  ['freeze --ttl 1', 'send', 'ttl_seconds', '--ttl'],
])('git-mesh %s: an error of %s about %s names %s', async (argv, useCase, argument, typed) => {
  expect(await said(argv, useCase, `${argument}: expected "a"; got 1`, { argument })).toBe(
    `${typed}: expected "a"; got 1`,
  );
});

it('an error that begins with what was given says where it was given', async () => {
  const of = (argv: string, argument: string): Promise<string> =>
    said(argv, 'send', '"x!" is no agent_id', { argument });
  expect(await of('send a note --from x!', 'from_agent')).toBe('--from: "x!" is no agent name');
  expect(await of('send a note --to-agent x!', 'to_agent')).toBe('--to-agent: "x!" is no agent name');
});

it('what looks like a credential is placed where it was typed', async () => {
  const of = (argv: string, place: string): Promise<string> =>
    said(argv, 'send', `${JSON.stringify(place)} looks like a credential`, { place });
  expect(await of('freeze --reason x', 'payload.reason')).toBe('--reason looks like a credential');
  expect(await of('send a note --message x', 'payload.message')).toBe('--message looks like a credential');
  expect(await of('send a note --key x', 'key')).toBe('--key looks like a credential');
  expect(await of('send a note --payload {}', 'payload.a')).toBe('"payload.a" looks like a credential');
});
