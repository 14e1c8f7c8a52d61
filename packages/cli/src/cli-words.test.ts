import { describe, expect, it } from 'vitest';
import { cliMessage, cliWords } from './cli-words.js';

const said = (message: string, data: Record<string, unknown> = {}): string => cliMessage({ message, data });

describe('the command line’s words', () => {
  it.each([
    ['msg_type', 'TYPE'],
    ['to', 'TO'],
    ['ttl_seconds', '--ttl'],
    ['in_reply_to', '--reply-to'],
    ['caps[3]', '--cap'],
    ['message_ids[0]', 'ID'],
    ['key', '--key'],
    ['constructor', '--constructor'],
    ['payload.repo', 'payload.repo'],
  ])('name the argument %s as %s', (argument, typed) => {
    expect(said(`${argument}: expected a; got "${argument}: b"`, { argument })).toBe(
      `${typed}: expected a; got "${argument}: b"`,
    );
  });

  it('say how to check in, with the agent where the error names it', () => {
    const message = 'not checked in: call agent_checkin with confirm: true first; agent_checkin names what was missed.';
    const rest = 'first; git mesh checkin names what was missed.';
    expect(said(message)).toBe(`not checked in: run git mesh checkin AGENT ${rest}`);
    expect(said(message, { agent_id: 'qa' })).toBe(`not checked in: run git mesh checkin qa ${rest}`);
    expect(said(message, { agent_id: '$&' })).toContain('git mesh checkin $& first');
  });

  it.each([
    ['agents_list shows who', 'git mesh agents shows who'],
    ['use the message_id values that agent_inbox gave', 'use the message numbers that git mesh inbox gave'],
    ['freeze-clear needs in_reply_to or payload.repo', 'freeze-clear needs --reply-to or payload.repo'],
    ['takes no to_agent: leave to_agent out', 'takes no --to-agent: leave --to-agent out'],
    ['Call agent_ack again with confirm: true to do it.', 'Run it again without --dry-run to do it.'],
    ['see agent_mesh_status', 'see git mesh status'],
  ])('turn %j into %j', (tool, command) => {
    expect(cliWords(tool)).toBe(command);
  });

  it('leave alone what is quoted, what is no tool, and plain words', () => {
    const text = 'No machine "agents_list \\" to_agent" here; key, role and to are words; no_such_word; my_agents_list';
    expect(cliWords(text)).toBe(text);
  });
});
