/** The clients whose hooks git-mesh knows. */
export const hookClients = ['claude-code', 'codex', 'cursor', 'gemini', 'vscode'] as const;
export type HookClient = (typeof hookClients)[number];

export function isHookClient(name: string): name is HookClient {
  return hookClients.some((client) => client === name);
}

/** What a client's hook prints: `stdout` is its own JSON, one line. */
export interface HookAnswer {
  stdout: string;
}

/**
 * Events at the end of a turn, where the client goes on with the text instead of stopping. Sources: the clients' own
 * documentation of their hooks, as of late 2026.
 */
const atTheEnd: Record<HookClient, { events: readonly string[]; answer: (text: string) => object }> = {
  'claude-code': { events: ['Stop', 'SubagentStop'], answer: (reason) => ({ decision: 'block', reason }) },
  codex: { events: ['Stop'], answer: (reason) => ({ decision: 'block', reason }) },
  cursor: { events: ['stop'], answer: (text) => ({ followup_message: text }) },
  gemini: { events: ['AfterAgent'], answer: (reason) => ({ decision: 'deny', reason }) },
  vscode: { events: ['Stop'], answer: (reason) => ({ decision: 'block', reason }) },
};

/** Events inside a turn, where the text is added to what the model reads. */
const inside: Record<HookClient, { events: readonly string[]; answer: (text: string, event: string) => object }> = {
  'claude-code': { events: ['SessionStart', 'UserPromptSubmit', 'PostToolUse'], answer: additionalContext },
  codex: { events: ['SessionStart', 'UserPromptSubmit', 'PostToolUse'], answer: additionalContext },
  cursor: { events: ['postToolUse'], answer: (text) => ({ additional_context: text }) },
  gemini: { events: ['SessionStart', 'BeforeAgent', 'AfterTool'], answer: additionalContext },
  vscode: { events: ['SessionStart', 'UserPromptSubmit', 'PostToolUse'], answer: additionalContext },
};

function additionalContext(text: string, hookEventName: string): object {
  return { hookSpecificOutput: { hookEventName, additionalContext: text } };
}

/** Every event of a client that a hook may be called for. */
export function eventsOf(client: HookClient): readonly string[] {
  return [...atTheEnd[client].events, ...inside[client].events];
}

/** The client's own form of a text; null for an event that is none of its. Names are compared in any case. */
export function hookAnswer(client: HookClient, event: string, text: string): HookAnswer | null {
  const named = (events: readonly string[]): string | undefined =>
    events.find((each) => each.toLowerCase() === event.toLowerCase());
  const end = named(atTheEnd[client].events);
  if (end !== undefined) return { stdout: `${JSON.stringify(atTheEnd[client].answer(text))}\n` };
  const within = named(inside[client].events);
  return within === undefined ? null : { stdout: `${JSON.stringify(inside[client].answer(text, within))}\n` };
}
