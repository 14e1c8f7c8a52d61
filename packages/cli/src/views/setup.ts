import type { HookClient } from '../hook/clients.js';
import type { Scope } from '../setup/clients.js';
import type { FileChange } from '../setup/plan.js';
import { textChange } from '../setup/text-change.js';
import type { Render } from '../view.js';

export interface SetupResult {
  preview: boolean;
  client: HookClient;
  scope: Scope;
  files: { path: string; change: 'created' | 'changed' | 'removed' | 'unchanged'; lines: string[] }[];
}

export function setupResult(
  changes: readonly FileChange[],
  facts: { client: HookClient; scope: Scope; preview: boolean },
): SetupResult {
  const files = changes.map(({ path, before, after }) => ({
    path,
    change: kindOf(before, after),
    lines: textChange(before ?? '', after ?? ''),
  }));
  return { ...facts, files: files.map((file) => (file.change === 'unchanged' ? { ...file, lines: [] } : file)) };
}

function kindOf(before: string | null, after: string | null): SetupResult['files'][number]['change'] {
  if (before === after) return 'unchanged';
  if (before === null) return 'created';
  return after === null ? 'removed' : 'changed';
}

/** Codex runs no hook that its user has not allowed. */
const nextSteps: Partial<Record<HookClient, string>> = {
  codex: 'Codex asks you to trust the hooks: open /hooks in it once.',
  'claude-code': 'Sessions that are open take it up when they are started anew.',
};

export function setupView(client: HookClient, isRemoval: boolean): Render<SetupResult> {
  return ({ preview, files }, { style, visible }) => {
    const changed = files.filter(({ change }) => change !== 'unchanged');
    if (changed.length === 0) {
      return { text: `Nothing to change: ${isRemoval ? 'it is not' : 'it is'} there.`, kind: 'confirmation' };
    }
    const lines = changed.flatMap(({ path, change, lines: text }) => [
      style.bold(`${visible(path, 1000)} (${preview ? `would be ${change}` : change})`),
      ...text.map((line) =>
        line.startsWith('+')
          ? style.cyan(visible(line, 500))
          : line.startsWith('-')
            ? style.red(visible(line, 500))
            : visible(line, 500),
      ),
      '',
    ]);
    const next = preview
      ? 'Nothing was changed.'
      : isRemoval
        ? 'Taken out.'
        : `Added. ${nextSteps[client] ?? ''}`.trim();
    return { text: [...lines, next].join('\n'), kind: preview ? 'answer' : 'confirmation' };
  };
}
