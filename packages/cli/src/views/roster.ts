import type { AdmitResult, KeyView, KeysResult, RevokeResult } from '@git-mesh/core';
import { cliWords } from '../cli-words.js';
import { renderTable, type Cell, type Column } from '../table.js';
import type { Render, ViewContext } from '../view.js';

function withNext(text: string, next: string | undefined, { own }: ViewContext): string {
  return next === undefined ? text : `${text}\n${own(cliWords(next))}`;
}

export const admitView: Render<AdmitResult> = (result, context) => {
  const who = `${context.style.bold(result.machine)} with the key ${result.key}`;
  if (result.preview) return { text: withNext(`Would admit ${who}.`, result.next, context), kind: 'answer' };
  return { text: result.already ? `Already admitted: ${who}.` : `Admitted ${who}.`, kind: 'confirmation' };
};

export const revokeView: Render<RevokeResult> = (result, context) => {
  const where = result.binds === 'everywhere' ? 'for all machines' : 'for this machine alone';
  const what = `${context.style.bold(result.machine)} (key ${result.key}) through commit ${result.through.seq}, ${where}`;
  if (result.preview) return { text: withNext(`Would revoke ${what}.`, result.next, context), kind: 'answer' };
  return { text: `Revoked ${what}: what it writes after that is not read.`, kind: 'confirmation' };
};

const columns: readonly Column[] = [{ header: 'MACHINE', leads: true }, { header: 'STANDING' }, { header: 'KEY' }];

function row(key: KeyView, { style }: ViewContext): Cell[] {
  const by = key.by === null ? '' : ` by ${key.by}`;
  const paint = key.verified === 'unverified' ? style.yellow : style.green;
  return [key.machine, { text: `${key.standing}${by}`, paint }, key.key];
}

export const keysView: Render<KeysResult> = ({ keys, policy }, context) => {
  const rows = keys.map((key) => row(key, context));
  const table = renderTable(columns, rows, { availableColumns: context.columns, paintHeader: context.style.dim });
  return { text: `${table}\n${context.style.dim(`Policy: ${policy}`)}`, kind: 'answer' };
};

export const allowedSignersView: Render<KeysResult> = ({ allowed_signers: signers }) => ({
  text: signers.trimEnd(),
  kind: 'answer',
});
