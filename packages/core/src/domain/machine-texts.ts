import { MeshError } from '../errors.js';
import { refuseSecret } from './secret-scan.js';
import { hasUnseen, isWellFormed } from './visible-text.js';

/** What a person calls a machine and its mesh, which is committed with its first commit and stays for good. */
interface MachineTexts {
  machine?: string | undefined;
  label?: string | undefined;
  /** Of the mesh: the last part of the repository's address. */
  mesh?: string | undefined;
}

/** In characters. */
const maxLabel = 200;

/**
 * To be called before anything is made.
 * @throws MeshError `secret_found`; `invalid_argument` for a label that is no line of text, or longer than 200 characters.
 */
export function checkMachineTexts({ machine, label, mesh }: MachineTexts): void {
  const named = { machine, label, 'the name of the repository': mesh };
  for (const [what, text] of Object.entries(named)) {
    if (text !== undefined) refuseSecret(text, what, 'if it is none, word it otherwise.');
  }
  if (label !== undefined) checkLabel(label);
}

function checkLabel(label: string): void {
  const problem =
    label.length > maxLabel
      ? `at most ${maxLabel} characters; got ${label.length}`
      : !isWellFormed(label) || hasUnseen(label)
        ? 'one line of text without control or invisible characters'
        : null;
  if (problem === null) return;
  throw new MeshError('invalid_argument', `label: expected ${problem}`, { data: { argument: 'label' } });
}
