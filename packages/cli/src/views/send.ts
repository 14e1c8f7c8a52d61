import { refusalWarning, withoutRefusal } from '@git-mesh/core';
import type { SendResult, SyncSummary } from '@git-mesh/core';
import { cliWords } from '../cli-words.js';
import type { Render } from '../view.js';
import { syncWarnings } from './sync-warnings.js';

/** `sync` is the state after the command tried to get the message out. */
export function sendView(sync: SyncSummary): Render<SendResult> {
  return (result, context) => {
    const { style, visible, own } = context;
    const whole = result.to === '*' ? 'every machine' : result.to;
    const to = result.to_agent === null ? whole : `${result.to_agent}@${result.to}`;
    const reaches =
      result.recipients.length === 0 ? '' : ` Reaches ${result.recipients.map((r) => visible(r, 120)).join(', ')}.`;
    const what = `${style.bold(`#${result.message_id}`)} ${style.cyan(result.msg_type)} to ${to}`;
    const text =
      result.duplicate === true
        ? `Sent before under this key: ${what}.`
        : `Sent ${what}.${reaches} ${style.dim(result.id)}`;
    // A refusal was known before the message was stored, and after the command tried to get it out: said once.
    const said = refusalWarning(sync) === null ? result.warning : withoutRefusal(result.warning ?? '');
    const warnings = said === undefined || said === '' ? [] : [own(cliWords(said))];
    return { text, kind: 'confirmation', warnings: [...warnings, ...syncWarnings(sync, context)] };
  };
}
