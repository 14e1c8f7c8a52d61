import { describe, expect, it } from 'vitest';
import { eventsOf, hookAnswer, hookClients } from './clients.js';
import { hookText } from './hook-text.js';

const answer = (client: (typeof hookClients)[number], event: string): unknown => {
  const given = hookAnswer(client, event, 'text');
  return given === null ? null : JSON.parse(given.stdout);
};

describe('a hook’s answer', () => {
  it('is in the client’s own format', () => {
    expect(answer('claude-code', 'Stop')).toEqual({ decision: 'block', reason: 'text' });
    expect(answer('codex', 'UserPromptSubmit')).toEqual({
      hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: 'text' },
    });
    expect(answer('cursor', 'stop')).toEqual({ followup_message: 'text' });
    expect(answer('cursor', 'postToolUse')).toEqual({ additional_context: 'text' });
    expect(answer('gemini', 'AfterAgent')).toEqual({ decision: 'deny', reason: 'text' });
    expect(answer('gemini', 'beforeagent')).toEqual({
      hookSpecificOutput: { hookEventName: 'BeforeAgent', additionalContext: 'text' },
    });
  });

  it('is one line for every event that is known, and none for others', () => {
    for (const client of hookClients) {
      for (const event of eventsOf(client)) expect(hookAnswer(client, event, 'a\nb')?.stdout).toMatch(/^[^\n]*\n$/);
      expect(hookAnswer(client, 'PreCompact', 'text')).toBeNull();
    }
  });
});

describe('what a hook says', () => {
  const agent = (name: string, fresh: number, unread: number) => ({ agent_id: name as never, fresh, unread });

  it('is counts, agents and what to call', () => {
    expect(hookText({ agents: [agent('qa', 2, 2)] })).toBe(
      'git-mesh: 2 new mesh messages for qa. agent_inbox shows them.',
    );
    expect(hookText({ agents: [agent('qa', 1, 4), agent('boss', 3, 3)] })).toBe(
      'git-mesh: 1 new mesh message for qa (4 unread in all); 3 new mesh messages for boss. agent_inbox shows them.',
    );
  });

  it('is nothing where nothing is new, and short where many are waiting', () => {
    expect(hookText({ agents: [] })).toBeNull();
    const many = Array.from({ length: 200 }, (_, n) => agent(`agent-${n}`, 1, 1));
    expect(hookText({ agents: many })?.length).toBeLessThan(400);
  });
});
